// swift-tools-version: 6.2
import PackageDescription

// One row per module: its name (the folder in Modules/ and the suffix of the target), and the modules of this package
// and of others that it imports. Docs/Architecture.md shows this graph; `make check` verifies it.
struct Module {
    let name: String
    let ours: [String]
    var others: [Target.Dependency] = []
    var testOthers: [Target.Dependency] = []

    var target: String { name == "Linnet" ? name : "Linnet" + name }
    var testDependencies: [Target.Dependency] {
        let names = Set([target, "LinnetTesting", "SanitizerSupport", "CommandSupport", "WatchdogSupport"] + ours)
        return names.sorted().map { .byName(name: $0) } + others + testOthers
    }
}

let nioCore = Target.Dependency.product(name: "NIOCore", package: "swift-nio")
let nioPosix = Target.Dependency.product(name: "NIOPosix", package: "swift-nio")
let nioHTTP1 = Target.Dependency.product(name: "NIOHTTP1", package: "swift-nio")
let nioWebSocket = Target.Dependency.product(name: "NIOWebSocket", package: "swift-nio")
let nioEmbedded = Target.Dependency.product(name: "NIOEmbedded", package: "swift-nio")
let nioHTTP2 = Target.Dependency.product(name: "NIOHTTP2", package: "swift-nio-http2")
let nioHPACK = Target.Dependency.product(name: "NIOHPACK", package: "swift-nio-http2")
let httpTypes = Target.Dependency.product(name: "HTTPTypes", package: "swift-http-types")
let logging = Target.Dependency.product(name: "Logging", package: "swift-log")
// The trait that requires all objects of a test to be released at its end.
let lifetimes = Target.Dependency.byName(name: "LifetimeSupport")
// What the tests of all content codings have in common.
let codingTests = Target.Dependency.byName(name: "CompressionSupport")
let grdb = Target.Dependency.product(name: "GRDB", package: "GRDB.swift")
let argumentParser = Target.Dependency.product(name: "ArgumentParser", package: "swift-argument-parser")

let modules = [
    Module(name: "Messages", ours: [], others: [httpTypes]),
    Module(name: "JSON", ours: []),
    Module(name: "Serialization", ours: ["LinnetMessages", "LinnetJSON"], others: [httpTypes]),
    Module(name: "SerializationXML", ours: ["LinnetSerialization", "CLibXML2"], testOthers: [httpTypes]),
    Module(name: "ImageSerialization", ours: ["LinnetSerialization", "CGdkPixbuf"], testOthers: [httpTypes]),
    Module(name: "Multipart", ours: ["LinnetMessages", "LinnetSerialization"], others: [httpTypes]),
    Module(name: "Cookies", ours: ["LinnetMessages"], others: [httpTypes]),
    Module(name: "Authentication", ours: ["LinnetMessages", "COpenSSL"], others: [httpTypes]),
    Module(name: "Security", ours: ["LinnetMessages", "COpenSSL"]),
    Module(name: "Reachability", ours: []),
    Module(name: "Cache", ours: ["LinnetMessages"], others: [httpTypes], testOthers: ["LinnetDiskCache"]),
    Module(name: "Compression", ours: ["LinnetMessages", "CZlib"], testOthers: [codingTests]),
    Module(name: "Brotli", ours: ["LinnetCompression", "CBrotli"], testOthers: [codingTests]),
    Module(name: "Zstandard", ours: ["LinnetCompression", "CZstd"], testOthers: [codingTests]),
    Module(
        name: "Transport", ours: ["LinnetMessages", "LinnetAuthentication", "LinnetSecurity", "COpenSSL"],
        others: [nioCore, nioPosix, httpTypes],
        testOthers: [nioHTTP1, nioHTTP2, nioHPACK, nioEmbedded, lifetimes]),
    Module(
        name: "Session",
        ours: [
            "LinnetMessages", "LinnetSerialization", "LinnetMultipart", "LinnetCookies", "LinnetCache",
            "LinnetCompression", "LinnetAuthentication", "LinnetSecurity", "LinnetReachability", "LinnetTransport",
        ],
        others: [nioCore, httpTypes, logging],
        testOthers: [lifetimes, "COpenSSL", "LinnetBrotli", "LinnetZstandard"]),
    Module(
        name: "Settings",
        ours: [
            "LinnetMessages", "LinnetCompression", "LinnetSecurity", "LinnetSerialization", "LinnetTransport",
            "LinnetSession",
        ],
        others: [httpTypes], testOthers: [lifetimes, "LinnetReachability"]),
    Module(
        name: "DiskCache",
        ours: [
            "LinnetCache", "LinnetCookies", "LinnetSecurity", "LinnetSerialization", "LinnetTransport", "LinnetSession",
        ],
        others: [httpTypes, grdb]),
    Module(
        name: "Background",
        ours: [
            "LinnetMessages", "LinnetSecurity", "LinnetSerialization", "LinnetTransport", "LinnetSession",
            "LinnetReachability",
        ],
        others: [httpTypes, grdb], testOthers: ["LinnetUIState", lifetimes]),
    Module(
        name: "BackgroundPostgres", ours: ["LinnetBackground", "LinnetTransport", "CLibPQ"],
        testOthers: ["LinnetSession", httpTypes, lifetimes]),
    Module(
        name: "WebSocket", ours: ["LinnetMessages", "LinnetSession", "LinnetTransport", "COpenSSL", "CZlib"],
        others: [nioCore, nioWebSocket, httpTypes], testOthers: ["LinnetSecurity", nioEmbedded, lifetimes]),
    Module(
        name: "OAuth",
        ours: [
            "LinnetMessages", "LinnetJSON", "LinnetSecurity", "LinnetSerialization", "LinnetTransport", "LinnetSession",
        ],
        others: [nioCore, nioPosix, httpTypes], testOthers: [lifetimes]),
    Module(
        name: "UIState", ours: ["LinnetCache", "LinnetTransport", "LinnetSession"], others: [httpTypes],
        testOthers: ["LinnetSerialization", "LinnetImageSerialization", lifetimes]),
    Module(
        name: "Testing", ours: ["LinnetMessages", "LinnetSecurity", "LinnetTransport", "COpenSSL"],
        others: [nioCore, nioPosix, nioHTTP1, nioHTTP2, nioHPACK, httpTypes],
        testOthers: [nioEmbedded, lifetimes]),
    Module(
        name: "AFNetworking",
        ours: [
            "LinnetMessages", "LinnetSerialization", "LinnetMultipart", "LinnetAuthentication", "LinnetSecurity",
            "LinnetReachability", "LinnetTransport", "LinnetSession", "LinnetSettings", "LinnetUIState",
        ],
        others: [httpTypes, logging],
        testOthers: ["LinnetCache", "LinnetImageSerialization", "LinnetAFNetworkingXML", lifetimes]),
    Module(
        name: "AFNetworkingBackground", ours: ["LinnetAFNetworking", "LinnetBackground"], testOthers: [lifetimes]),
    Module(name: "AFNetworkingXML", ours: ["LinnetAFNetworking", "LinnetSerializationXML"]),
    Module(
        name: "Linnet",
        ours: [
            "LinnetSerialization", "LinnetMultipart", "LinnetCookies", "LinnetCache", "LinnetCompression",
            "LinnetAuthentication",
            "LinnetSecurity", "LinnetReachability", "LinnetSession", "LinnetSettings",
        ],
        others: [httpTypes], testOthers: ["ServerNames"]),
]

let systemLibraries: [Target] = [
    .systemLibrary(
        name: "COpenSSL", path: "Modules/COpenSSL", pkgConfig: "openssl",
        providers: [.apt(["libssl-dev", "pkg-config"]), .yum(["openssl-devel"]), .brew(["openssl@3"])]),
    .systemLibrary(
        name: "CZlib", path: "Modules/CZlib", pkgConfig: "zlib",
        providers: [.apt(["zlib1g-dev"]), .yum(["zlib-devel"]), .brew(["zlib"])]),
    .systemLibrary(
        name: "CBrotli", path: "Modules/CBrotli", pkgConfig: "libbrotlidec",
        providers: [.apt(["libbrotli-dev"]), .yum(["brotli-devel"]), .brew(["brotli"])]),
    .systemLibrary(
        name: "CZstd", path: "Modules/CZstd", pkgConfig: "libzstd",
        providers: [.apt(["libzstd-dev"]), .yum(["libzstd-devel"]), .brew(["zstd"])]),
    .systemLibrary(
        name: "CLibXML2", path: "Modules/CLibXML2", pkgConfig: "libxml-2.0",
        providers: [.apt(["libxml2-dev"]), .yum(["libxml2-devel"]), .brew(["libxml2"])]),
    .systemLibrary(
        name: "CLibPQ", path: "Modules/CLibPQ", pkgConfig: "libpq",
        providers: [.apt(["libpq-dev"]), .yum(["libpq-devel"]), .brew(["libpq"])]),
    // Without pkg-config, whose -pthread SwiftPM warns about: Modules/CGdkPixbuf/declarations.h needs no flags.
    .systemLibrary(
        name: "CGdkPixbuf", path: "Modules/CGdkPixbuf",
        providers: [.apt(["libgdk-pixbuf-2.0-dev"]), .yum(["gdk-pixbuf2-devel"]), .brew(["gdk-pixbuf"])]),
]

let executables: [Target] = [
    .target(
        name: "ExampleSupport", dependencies: ["LinnetMessages", "LinnetSecurity"], path: "Examples/ExampleSupport"),
    .executableTarget(
        name: "ExampleApp",
        dependencies: modules.map { .byName(name: $0.target) } + ["ExampleSupport", httpTypes, argumentParser],
        path: "Examples/ExampleApp"),
    .executableTarget(
        name: "linnet-request", dependencies: ["Linnet", "LinnetOAuth", "ExampleSupport", argumentParser],
        path: "Examples/LinnetRequest"),
    .executableTarget(
        name: "linnet-pins",
        dependencies: [
            "LinnetSecurity", "LinnetSettings", "LinnetTransport", "ExampleSupport", httpTypes, argumentParser,
        ],
        path: "Examples/LinnetPins"),
    .executableTarget(
        name: "linnet-reach", dependencies: ["LinnetReachability", "ExampleSupport", argumentParser],
        path: "Examples/LinnetReach"),
    .executableTarget(
        name: "linnet-transfers",
        dependencies: ["LinnetBackground", "LinnetSession", "ExampleSupport", argumentParser],
        path: "Examples/LinnetTransfers"),
]

// Examples/Recipes: programs of one file, with what they import beside the umbrella.
let recipes: [(name: String, folder: String, others: [Target.Dependency])] = [
    ("pinned-request", "PinnedRequest", []),
    ("resumable-download", "ResumableDownload", []),
    ("form-upload", "FormUpload", []),
    ("token-refresh", "TokenRefresh", []),
    ("reachability-watch", "ReachabilityWatch", []),
    ("image-grid", "ImageGrid", ["LinnetUIState", "LinnetImageSerialization"]),
    ("event-stream", "EventStream", []),
    ("websocket-chat", "WebSocketChat", ["LinnetWebSocket"]),
    ("cached-api-client", "CachedAPIClient", ["LinnetDiskCache"]),
    ("background-downloads", "BackgroundDownloads", ["LinnetBackground"]),
]

let appTests: [Target] = [
    .target(name: "SanitizerSupport", path: "Tests/SanitizerSupport"),
    .target(name: "CObjectLedger", path: "Tests/CObjectLedger"),
    .target(
        name: "LifetimeSupport", dependencies: ["CObjectLedger", "LinnetTransport", nioPosix],
        path: "Tests/LifetimeSupport"),
    .target(
        name: "CompressionSupport", dependencies: ["LinnetCompression", "CommandSupport"],
        path: "Tests/CompressionSupport"),
    .target(name: "WatchdogSupport", path: "Tests/WatchdogSupport"),
    .target(name: "ServerNames", path: "Tests/ServerNames"),
    // All tests depend on this target, which links the watchdog into them.
    .target(name: "CommandSupport", dependencies: ["WatchdogSupport"], path: "Tests/CommandSupport"),
    .testTarget(
        name: "ExampleAppTests",
        dependencies: [
            "ExampleApp", "ExampleSupport", "Linnet", "LinnetImageSerialization", "LinnetTesting", "LinnetWebSocket",
            "CommandSupport", "SanitizerSupport", httpTypes, lifetimes,
        ],
        path: "Tests/ExampleAppTests",
        exclude: ["Screen/Frames"]),
    .testTarget(
        name: "RecipesTests",
        dependencies: recipes.map { .byName(name: "recipe-" + $0.name) } + [
            "Linnet", "LinnetImageSerialization", "LinnetTesting", "CommandSupport", "SanitizerSupport", "COpenSSL",
            httpTypes,
        ],
        path: "Tests/RecipesTests"),
    .testTarget(
        name: "LinnetRequestTests",
        dependencies: ["linnet-request", "LinnetTesting", "CommandSupport", "SanitizerSupport", httpTypes],
        path: "Tests/LinnetRequestTests"),
    .testTarget(
        name: "LinnetPinsTests",
        dependencies: [
            "linnet-pins", "LinnetSecurity", "LinnetSettings", "LinnetTesting", "CommandSupport", "SanitizerSupport",
        ],
        path: "Tests/LinnetPinsTests"),
    .testTarget(
        name: "LinnetReachTests",
        dependencies: ["linnet-reach", "ExampleSupport", "LinnetReachability", "CommandSupport", "SanitizerSupport"],
        path: "Tests/LinnetReachTests"),
    .testTarget(
        name: "LinnetTransfersTests",
        dependencies: [
            "linnet-transfers", "ExampleSupport", "LinnetTesting", "CommandSupport", "SanitizerSupport", httpTypes,
        ],
        path: "Tests/LinnetTransfersTests"),
    .testTarget(
        name: "IntegrationTests",
        dependencies: [
            "Linnet", "LinnetAFNetworking", "LinnetBrotli", "LinnetOAuth", "LinnetTransport", "LinnetWebSocket",
            "LinnetTesting", "CommandSupport",
            "SanitizerSupport", "linnet-request", httpTypes, lifetimes,
        ],
        path: "Tests/IntegrationTests",
        exclude: ["Servers"]),
]

let package = Package(
    name: "linnet",
    platforms: [.macOS(.v15)],
    products: modules.map { .library(name: $0.target, targets: [$0.target]) } + [
        .executable(name: "ExampleApp", targets: ["ExampleApp"]),
        .executable(name: "linnet-request", targets: ["linnet-request"]),
        .executable(name: "linnet-pins", targets: ["linnet-pins"]),
        .executable(name: "linnet-reach", targets: ["linnet-reach"]),
        .executable(name: "linnet-transfers", targets: ["linnet-transfers"]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.0"),
        .package(url: "https://github.com/apple/swift-nio-http2", from: "1.46.0"),
        .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.0"),
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.0"),
        .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
    ],
    targets: systemLibraries
        + modules.map {
            .target(
                name: $0.target, dependencies: $0.ours.map { .byName(name: $0) } + $0.others,
                path: "Modules/\($0.name)")
        }
        + modules.map {
            .testTarget(
                name: "\($0.name)Tests", dependencies: $0.testDependencies, path: "Tests/\($0.name)Tests")
        }
        + executables
        + recipes.map {
            .executableTarget(
                name: "recipe-" + $0.name, dependencies: ["Linnet", argumentParser] + $0.others,
                path: "Examples/Recipes/\($0.folder)")
        } + appTests,
    swiftLanguageModes: [.v6]
)

// LINNET_TESTS has the names of the test targets that are built alone (`make quick`), or the paths of the files in them
// that are built alone (`make scaling`), such as `SessionTests/Surface.swift`, separated by commas.
if let tests = Context.environment["LINNET_TESTS"]?.split(separator: ","), !tests.isEmpty {
    let parts = tests.map { $0.split(separator: "/", maxSplits: 1).map(String.init) }
    package.targets.removeAll { target in target.type == .test && !parts.contains { $0[0] == target.name } }
    for target in package.targets where target.type == .test {
        let files = parts.filter { $0[0] == target.name && $0.count == 2 }.map { $0[1] }
        if !files.isEmpty { target.sources = files }
    }
}

let targetsInC = ["SanitizerSupport", "WatchdogSupport", "CObjectLedger"]
for target in package.targets where target.type != .system && !targetsInC.contains(target.name) {
    target.swiftSettings = [
        .enableUpcomingFeature("ExistentialAny"),
        .enableUpcomingFeature("InternalImportsByDefault"),
        .enableUpcomingFeature("MemberImportVisibility"),
        .enableUpcomingFeature("InferIsolatedConformances"),
        .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
    ]
}
