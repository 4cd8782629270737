-- The session that a payment is credited to: filters of the overview choose payments by it. Numbers of 64 bits as texts.
ALTER TABLE revenue_payments
  ADD COLUMN visitor text,
  ADD COLUMN session text,
  -- When the session began, as far back as the day before the touch.
  ADD COLUMN session_at timestamptz;

-- Credited again, so that the columns are filled.
UPDATE revenue_payments SET credit_due_at = now();
