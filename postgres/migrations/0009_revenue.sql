-- Trusted revenue (docs/revenue.md): connections to payment providers, the ledger, who paid, rates, and ad spend.

CREATE TABLE revenue_connections (
  id           bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  workspace_id integer NOT NULL REFERENCES workspaces,
  provider     text NOT NULL CHECK (provider IN ('stripe', 'paddle', 'lemonsqueezy', 'custom')),
  -- Its events are signed with it; encrypted.
  secret       bytea NOT NULL,
  created_at   timestamptz NOT NULL DEFAULT now(),
  -- From then on its events are refused. Those that it recorded stay.
  disconnected_at timestamptz
);
CREATE INDEX revenue_connections_workspace ON revenue_connections (workspace_id, id);

-- A payment, with the one touch that all its entries are credited to. It may be known by a refund alone at first.
CREATE TABLE revenue_payments (
  id           bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  workspace_id integer NOT NULL REFERENCES workspaces,
  provider     text NOT NULL,
  -- The provider's own id of it.
  payment      text NOT NULL,
  -- By which who paid is looked up in `revenue_payers`.
  refs         text[] NOT NULL,
  occurred_at  timestamptz NOT NULL,
  -- The UTC day on which we heard of it first: the rates of that day convert it.
  import_day   date NOT NULL,
  recorded_at  timestamptz NOT NULL DEFAULT now(),
  -- By which rule: the person's last touch, their last session, or nothing that is known of them.
  rule         text NOT NULL DEFAULT 'none' CHECK (rule IN ('touch', 'session', 'none')),
  source       text NOT NULL DEFAULT 'direct',
  medium       text NOT NULL DEFAULT 'none',
  campaign     text NOT NULL DEFAULT '',
  -- The credited session's; no path where no session is known, or it viewed no page.
  path         text,
  device       text NOT NULL DEFAULT 'unknown',
  browser      text NOT NULL DEFAULT 'unknown',
  country      text NOT NULL DEFAULT 'unknown',
  -- The tracked link and the post that led to the touch; null for none.
  link_id      bigint,
  post_id      bigint,
  -- The session that it is credited to: filters of the overview choose payments by it. Numbers of 64 bits as texts.
  visitor      text,
  session      text,
  -- When the session began, as far back as the day before the touch.
  session_at   timestamptz,
  credited_at  timestamptz,
  -- When it is credited the next time; null: never again.
  credit_due_at timestamptz DEFAULT now(),
  -- Who paid was erased: what the payment is credited to stays, whatever comes of it later.
  is_payer_erased boolean NOT NULL DEFAULT false,
  UNIQUE (workspace_id, provider, payment)
);
-- Without a pending list, which each of the many look-ups would read as a whole.
CREATE INDEX revenue_payments_refs ON revenue_payments USING gin (refs) WITH (fastupdate = off);
CREATE INDEX revenue_payments_links ON revenue_payments (workspace_id, link_id) WHERE link_id IS NOT NULL;
CREATE INDEX revenue_payments_due ON revenue_payments (credit_due_at) WHERE credit_due_at IS NOT NULL;

-- The ledger: a payment's own entry, and one below zero for each refund. A provider that tells the refunded total has it in
-- `total_cents`, and the value is the difference to the next lower total. The order in which events arrive changes nothing.
CREATE TABLE revenue_entries (
  id           bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  workspace_id integer NOT NULL,
  payment_id   bigint NOT NULL REFERENCES revenue_payments ON DELETE CASCADE,
  -- `payment`, `refund ID`, `refund ID failed`, `total CENTS`, or `total CENTS at TIME` where totals may fall.
  entry        text NOT NULL,
  total_cents  bigint,
  value_cents  bigint NOT NULL,
  currency     text NOT NULL,
  occurred_at  timestamptz NOT NULL,
  UNIQUE (payment_id, entry)
);
CREATE INDEX revenue_entries_time ON revenue_entries (workspace_id, occurred_at) INCLUDE (payment_id, value_cents, currency);

-- Who paid, as events told it of a payment, an invoice or a customer: the newest value of each field counts, ties by value.
-- The only place of an e-mail among the tables of revenue.
CREATE TABLE revenue_payers (
  workspace_id integer NOT NULL REFERENCES workspaces,
  provider     text NOT NULL,
  reference    text NOT NULL,
  field        text NOT NULL CHECK (field IN ('email', 'user_id', 'anonymous_id')),
  value        text NOT NULL,
  told_at      timestamptz NOT NULL,
  PRIMARY KEY (workspace_id, provider, reference, field)
);
CREATE INDEX revenue_payers_value ON revenue_payers (workspace_id, field, value);

-- How many units of `to_currency`'s smallest amount one of `currency`'s is worth, for payments of an import day.
CREATE TABLE revenue_rates (
  workspace_id integer NOT NULL REFERENCES workspaces,
  currency     text NOT NULL,
  to_currency  text NOT NULL,
  day          date NOT NULL,
  factor       numeric NOT NULL CHECK (factor > 0),
  PRIMARY KEY (workspace_id, currency, to_currency, day)
);

-- The cost of ads, as imported: a day of a campaign is replaced when it is imported again. It has one currency, the one that
-- was imported last.
CREATE TABLE ad_spend (
  workspace_id integer NOT NULL REFERENCES workspaces,
  day          date NOT NULL,
  source       text NOT NULL,
  campaign     text NOT NULL,
  currency     text NOT NULL,
  cost_cents   bigint NOT NULL,
  clicks       bigint NOT NULL,
  import_day   date NOT NULL,
  PRIMARY KEY (workspace_id, day, source, campaign)
);
