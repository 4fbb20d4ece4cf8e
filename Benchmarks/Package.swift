// swift-tools-version: 6.2
import PackageDescription

// A separate package, so that the other clients are not dependencies of Linnet's users. Each client is a separate executable, so
// that its memory and size can be measured.

let linnet = Target.Dependency.product(name: "Linnet", package: "linnet")
let asyncHTTPClient = Target.Dependency.product(name: "AsyncHTTPClient", package: "async-http-client")
let support = Target.Dependency.target(name: "BenchSupport")

let package = Package(
    name: "linnet-benchmarks",
    platforms: [.macOS(.v15)],
    dependencies: [
        .package(name: "linnet", path: "..", traits: [.defaults, "Metrics", "Tracing"]),
        .package(url: "https://github.com/swift-server/async-http-client", exact: "1.37.0"),
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.0"),
        .package(url: "https://github.com/apple/swift-nio-ssl", from: "2.37.0"),
        .package(url: "https://github.com/apple/swift-metrics", from: "2.13.0"),
        .package(url: "https://github.com/apple/swift-distributed-tracing", from: "1.7.0"),
    ],
    targets: [
        .target(name: "BenchSupport"),
        .executableTarget(
            name: "bench-linnet",
            dependencies: [
                linnet, support,
                .product(name: "LinnetMetrics", package: "linnet"),
                .product(name: "LinnetTracing", package: "linnet"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "MetricsTestKit", package: "swift-metrics"),
                .product(name: "InMemoryTracing", package: "swift-distributed-tracing"),
            ]),
        .executableTarget(
            name: "bench-afnetworking",
            dependencies: [support, .product(name: "LinnetAFNetworking", package: "linnet")]),
        .executableTarget(
            name: "bench-ahc",
            dependencies: [
                asyncHTTPClient, support,
                .product(name: "NIOFoundationEssentialsCompat", package: "swift-nio"),
                .product(name: "_NIOFileSystem", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOSSL", package: "swift-nio-ssl"),
            ]),
        .executableTarget(
            name: "bench-cache",
            dependencies: [linnet, support, .product(name: "LinnetDiskCache", package: "linnet")]),
        .executableTarget(
            name: "bench-background",
            dependencies: [support, .product(name: "LinnetBackground", package: "linnet")]),
        .executableTarget(
            name: "bench-websocket",
            dependencies: [
                linnet, support,
                .product(name: "LinnetWebSocket", package: "linnet"),
                .product(name: "NIOPosix", package: "swift-nio"),
            ]),
        .executableTarget(
            name: "bench-echo",
            dependencies: [
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "NIOWebSocket", package: "swift-nio"),
            ]),
        .executableTarget(
            name: "bench-images",
            dependencies: [
                linnet, support,
                .product(name: "LinnetImageSerialization", package: "linnet"),
                .product(name: "LinnetUIState", package: "linnet"),
            ]),
        .executableTarget(
            name: "bench-pixbuf",
            linkerSettings: ["curl", "gdk_pixbuf-2.0", "gobject-2.0"].map { .linkedLibrary($0) }),
        .executableTarget(name: "bench-urlsession", dependencies: [support]),
        .executableTarget(name: "bench-libcurl", linkerSettings: ["curl", "m"].map { .linkedLibrary($0) }),
        .executableTarget(name: "bench-openssl", linkerSettings: [.linkedLibrary("crypto")]),
        .executableTarget(name: "bench-values", dependencies: [linnet, support]),
        .executableTarget(name: "linnet-soak", dependencies: [linnet]),
        .executableTarget(
            name: "linnet-leaks",
            dependencies: [linnet, "BenchMemory", .product(name: "LinnetTesting", package: "linnet")]),
        .executableTarget(
            name: "linnet-mix",
            dependencies: [
                linnet, "BenchMemory", "CSoak",
                .product(name: "LinnetTesting", package: "linnet"),
                .product(name: "NIOPosix", package: "swift-nio"),
            ]),
        .target(name: "BenchMemory", dependencies: ["CAllocator", "CSoak"]),
        .target(name: "CAllocator"),
        .target(name: "CSoak", linkerSettings: [.linkedLibrary("crypto")]),
        .executableTarget(name: "size-linnet", dependencies: [linnet]),
        .executableTarget(name: "size-ahc", dependencies: [asyncHTTPClient]),
        .executableTarget(name: "size-urlsession"),
    ],
    swiftLanguageModes: [.v6]
)
