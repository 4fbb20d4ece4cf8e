// swift-tools-version: 6.2
import PackageDescription

// A separate package, so that the build of Linnet does not need Hummingbird.

func product(_ name: String, _ package: String) -> Target.Dependency { .product(name: name, package: package) }
func linnet(_ name: String) -> Target.Dependency { product(name, "linnet") }

let server: [Target.Dependency] = [
    product("Hummingbird", "hummingbird"), product("HummingbirdCore", "hummingbird"),
    product("Configuration", "swift-configuration"),
    product("HTTPTypes", "swift-http-types"), product("Logging", "swift-log"), product("Metrics", "swift-metrics"),
    product("NIOCore", "swift-nio"), product("NIOHTTPTypes", "swift-nio-extras"), product("NIOPosix", "swift-nio"),
    product("ServiceLifecycle", "swift-service-lifecycle"), product("Tracing", "swift-distributed-tracing"),
    product("UnixSignals", "swift-service-lifecycle"),
]

let package = Package(
    name: "linnet-gateway-example",
    platforms: [.macOS(.v15)],
    dependencies: [
        .package(
            name: "linnet", path: "../..",
            traits: [.defaults, "Metrics", "Tracing", "ServiceLifecycle", "Configuration"]),
        .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.0"),
        .package(url: "https://github.com/swift-server/async-http-client", from: "1.37.0"),
        .package(url: "https://github.com/apple/swift-configuration", from: "1.0.2"),
        .package(url: "https://github.com/apple/swift-distributed-tracing", from: "1.7.3"),
        .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.0"),
        .package(url: "https://github.com/apple/swift-metrics", from: "2.9.0"),
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.0"),
        .package(url: "https://github.com/apple/swift-nio-extras", from: "1.34.1"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.9.0"),
    ],
    targets: [
        .target(name: "GatewayServer", dependencies: server, path: "GatewayServer"),
        .executableTarget(
            name: "gateway",
            dependencies: server + [
                "GatewayServer", linnet("Linnet"), linnet("LinnetConfiguration"), linnet("LinnetMetrics"),
                linnet("LinnetServiceLifecycle"), linnet("LinnetTracing"),
            ],
            path: "Gateway"),
        .executableTarget(
            name: "gateway-async-http-client",
            dependencies: server + [
                "GatewayServer", product("AsyncHTTPClient", "async-http-client"), product("NIOHTTP1", "swift-nio"),
            ],
            path: "GatewayAsyncHTTPClient"),
        .testTarget(
            name: "GatewayTests",
            dependencies: server + [
                "GatewayServer", "gateway", linnet("Linnet"), linnet("LinnetServiceLifecycle"), linnet("LinnetTesting"),
            ],
            path: "GatewayTests"),
    ],
    swiftLanguageModes: [.v6]
)

for target in package.targets {
    target.swiftSettings = [
        .enableUpcomingFeature("ExistentialAny"),
        .enableUpcomingFeature("InternalImportsByDefault"),
        .enableUpcomingFeature("MemberImportVisibility"),
        .enableUpcomingFeature("InferIsolatedConformances"),
        .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
    ]
}
