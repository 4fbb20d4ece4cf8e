# An image for building packages that depend on Linnet, with the libraries of all its modules. CI has no Docker and does not run this
# file; `.ci/check-release` compares its packages with those that the build needs.
#
#   docker build --file Examples/Docker/build.Dockerfile --tag linnet-build .
#   docker run --rm --volume "$PWD:/package" linnet-build swift build
FROM swift:6.2-bookworm

RUN apt-get update \
    && apt-get install --yes --no-install-recommends \
        ca-certificates git make pkg-config python3 binutils \
        libssl-dev zlib1g-dev \
        libbrotli-dev libzstd-dev libxml2-dev libsqlite3-dev libpq-dev libgdk-pixbuf-2.0-dev libsecret-1-dev \
    && rm -rf /var/lib/apt/lists/*

WORKDIR /package
CMD ["swift", "build"]
