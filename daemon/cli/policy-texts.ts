/** What the command line says of approvals, settings and the audit log. */
export const policyTexts = {
  cmdApprovals: { ko: '승인할 일', en: 'what a person is asked to approve' },
  cmdApprovalsList: { ko: '승인할 일 보기', en: 'list approvals, those that wait first' },
  cmdApprovalsApprove: { ko: '승인하기', en: 'approve: just what was shown runs' },
  cmdApprovalsDeny: { ko: '거절하기', en: 'deny' },
  cmdApprovalsUndo: { ko: '한 일을 되돌리기', en: 'take back what was carried out' },
  cmdSettings: { ko: '집 설정을 보거나 바꾸기', en: "show or change the household's settings" },
  cmdAudit: { ko: '감사 기록', en: 'the audit log' },
  cmdAuditList: { ko: '감사 기록 보기', en: 'list the newest rows' },
  cmdAuditVerify: { ko: '감사 기록이 온전한지 확인', en: 'check that no row was changed, removed or moved' },
  noApprovals: { ko: '승인할 일이 없어요.', en: 'nothing to approve' },
  acceptedWaits: {
    ko: '작업 {id}: 먼저 사람이 승인해야 해요. deviceagent approvals approve {approval} (또는 deny)',
    en: 'task {id} accepted; a person has to approve it first: deviceagent approvals approve {approval} (or deny)',
  },
  waitsForApproval: { ko: '승인 {approval}을 기다려요', en: 'waits for approval {approval}' },
  quietForm: {
    ko: 'quiet_hours: 22:00-07:00처럼 쓰거나 off라고 쓰세요',
    en: 'quiet_hours: write it like 22:00-07:00, or off',
  },
  approvalNow: { ko: '{id}: {status} ({title})', en: '{id}: {status} ({title})' },
  noSetting: {
    ko: '{key}: 그런 설정이 없어요. 있는 것: {known}',
    en: 'no setting {key}; there are: {known}',
  },
  auditWhole: { ko: '온전해요: {n}줄, 마지막 해시 {head}', en: 'whole: {n} rows, newest hash {head}' },
  auditBroken: { ko: '온전하지 않아요. {n}번째 줄: {what}', en: 'not whole: row {n}: {what}' },
  hDetail: { ko: '내용', en: 'detail' },
  hExpires: { ko: '기한', en: 'expires' },
} as const;
