# SPDX-License-Identifier: Apache-2.0
# Multi-stage: build with the same install script as everywhere else, then a small image that runs as nobody special.
#   docker build -t fleetscope .        docker run -p 8080:8080 -v fleetscope:/data fleetscope
FROM debian:bookworm-slim AS build
WORKDIR /src
COPY scripts/install-deps.sh scripts/
RUN FSC_DEPS=build scripts/install-deps.sh
COPY . .
RUN make MODE=release -j"$(nproc)" programs && make MODE=release install prefix=/usr DESTDIR=/out

FROM debian:bookworm-slim
COPY scripts/install-deps.sh /tmp/install-deps.sh
RUN FSC_DEPS=run /tmp/install-deps.sh && rm -rf /tmp/install-deps.sh /var/lib/apt/lists/* \
	&& useradd --system --uid 10001 --home-dir /data --shell /usr/sbin/nologin fleetscope \
	&& install -d -o fleetscope -g fleetscope /data
COPY --from=build /out/usr/bin/ /usr/bin/
USER fleetscope
VOLUME /data
EXPOSE 8080
# Not a loopback address: tokens are on, and the first admin token is printed once in the log.
ENTRYPOINT ["fleetscope-server", "--data", "/data", "--listen", "0.0.0.0:8080"]
