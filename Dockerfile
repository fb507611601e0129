# docker build -t sbxd . && docker run -e SANDBOX_SECRET=... -p 3030:3030 sbxd
FROM debian:12 AS build
COPY . /src
WORKDIR /src
RUN apt-get update && \
    apt-get install -y --no-install-recommends make && \
    etc/install-deps run && make -s clean && \
    make -s -j2 && make -s install DESTDIR=/out PREFIX=/usr

FROM debian:12-slim
RUN apt-get update && \
    apt-get install -y --no-install-recommends \
        bubblewrap ca-certificates libbsd0 libcurl4 libevent-core-2.1-7 \
        libjson-c5 libmd0 libseccomp2 && \
    rm -rf /var/lib/apt/lists/* && \
    for u in _sbxd _sbxspawn _sbxrep; do \
        useradd --system --user-group --no-create-home \
            --home-dir /nonexistent --shell /usr/sbin/nologin $u; \
    done && mkdir -p /workspace
COPY --from=build /out/ /
COPY etc/container.conf /etc/sbxd/sbxd.conf
ENV WORKSPACE_PATH=/workspace
EXPOSE 3030 3031
ENTRYPOINT ["/usr/sbin/sbxd", "-d"]
