-- When an action can no longer be applied; nanoseconds since 1970, null for never.
ALTER TABLE airlock.actions ADD COLUMN expires_at bigint;
