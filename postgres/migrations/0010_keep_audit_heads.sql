-- Without its head a chain of audit events begins anew: a head is updated by the next event, and never deleted.
CREATE TRIGGER audit_heads_not_deleted BEFORE DELETE ON audit_heads
  FOR EACH ROW EXECUTE FUNCTION refuse_audit_change();
CREATE TRIGGER audit_heads_not_truncated BEFORE TRUNCATE ON audit_heads
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_audit_change();
