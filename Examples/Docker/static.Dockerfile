# A slim image with one program, whose Swift libraries are linked statically. OpenSSL, zlib and SQLite stay the distribution's, so that
# their security updates come with the image's packages. CI has no Docker and does not run this file.
#
#   docker build --file Examples/Docker/static.Dockerfile --tag linnet .
#   docker run --rm linnet https://www.example.com/
#
# For a package of your own, copy this file into it, and set PRODUCT.
FROM swift:6.2-bookworm AS build

RUN apt-get update \
    && apt-get install --yes --no-install-recommends pkg-config libsqlite3-dev libssl-dev zlib1g-dev \
    && rm -rf /var/lib/apt/lists/*
WORKDIR /package
COPY . .
ARG PRODUCT=linnet
RUN swift build --configuration release --static-swift-stdlib --product "$PRODUCT" -Xlinker --strip-all \
    && install -D "$(swift build --configuration release --show-bin-path)/$PRODUCT" /out/program

FROM debian:bookworm-slim

# The system's certificates, and the libraries that the program loads.
RUN apt-get update \
    && apt-get install --yes --no-install-recommends ca-certificates libsqlite3-0 libssl3 libstdc++6 zlib1g \
    && rm -rf /var/lib/apt/lists/* \
    && useradd --system --no-create-home program
COPY --from=build /out/program /usr/local/bin/program
USER program
ENTRYPOINT ["/usr/local/bin/program"]
