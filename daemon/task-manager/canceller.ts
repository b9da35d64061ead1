/** Who cancels decides the reason: `CANCELLED_BY_USER`, `_CLOUD` or `_SYSTEM`. */
export type Canceller = 'USER' | 'CLOUD' | 'SYSTEM';
