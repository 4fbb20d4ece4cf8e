// swift-tools-version: 6.2
import PackageDescription

// One row per module: its name (the folder in Modules/ and the suffix of the target), and the modules of this package
// and of others that it imports. Docs/Architecture.md shows this graph; `make check` verifies it.
struct Module {
    let name: String
    let ours: [String]
    var others: [Target.Dependency] = []
    var testOthers: [Target.Dependency] = []
    // Files beside the tests that they read.
    var testFiles: [String] = []

    var target: String { name == "Linnet" ? name : "Linnet" + name }
    var testDependencies: [Target.Dependency] {
        let names = Set([target, "LinnetTesting", "SanitizerSupport", "CommandSupport", "WatchdogSupport"] + ours)
        return names.sorted().map { .byName(name: $0) } + others + testOthers
    }
}

// Traits. A package that depends on this one fetches only what its traits need: `traits: []` suffices for LinnetSecurity.
let defaultTraits: Set<Trait> = [
    .trait(name: "Session", description: "All modules that send requests, with swift-nio and swift-log."),
    .trait(
        name: "SQLite", description: "LinnetDiskCache and LinnetBackground, with GRDB.", enabledTraits: ["Session"]),
    .trait(name: "Testing", description: "LinnetTesting, with swift-nio-http2.", enabledTraits: ["Session"]),
    .trait(name: "Tools", description: "The executables, with swift-argument-parser.", enabledTraits: ["Session"]),
]
// The sources of these modules are empty without their trait, so that a build without it needs no other package.
let optionalTraits: Set<Trait> = [
    .trait(name: "Metrics", description: "LinnetMetrics, with swift-metrics."),
    .trait(name: "Tracing", description: "LinnetTracing, with swift-distributed-tracing."),
    .trait(name: "ServiceLifecycle", description: "LinnetServiceLifecycle, with swift-service-lifecycle."),
    .trait(name: "Configuration", description: "LinnetConfiguration, with swift-configuration."),
]
// The checks and tests of this package are about all modules: `make` sets LINNET_TRAITS=all.
let enablesAllTraits = Context.environment["LINNET_TRAITS"] == "all"

func product(_ name: String, of package: String, for trait: String) -> Target.Dependency {
    .product(name: name, package: package, condition: .when(traits: [trait]))
}

let nioCore = product("NIOCore", of: "swift-nio", for: "Session")
let nioPosix = product("NIOPosix", of: "swift-nio", for: "Session")
let nioHTTP1 = product("NIOHTTP1", of: "swift-nio", for: "Session")
let nioWebSocket = product("NIOWebSocket", of: "swift-nio", for: "Session")
let nioEmbedded = product("NIOEmbedded", of: "swift-nio", for: "Session")
let nioHTTP2 = product("NIOHTTP2", of: "swift-nio-http2", for: "Testing")
let nioHPACK = product("NIOHPACK", of: "swift-nio-http2", for: "Testing")
let httpTypes = Target.Dependency.product(name: "HTTPTypes", package: "swift-http-types")
let logging = product("Logging", of: "swift-log", for: "Session")
// The trait that requires all objects of a test to be released at its end.
let lifetimes = Target.Dependency.byName(name: "LifetimeSupport")
// What the tests of all content codings have in common.
let codingTests = Target.Dependency.byName(name: "CompressionSupport")
let grdb = product("GRDB", of: "GRDB.swift", for: "SQLite")
let argumentParser = product("ArgumentParser", of: "swift-argument-parser", for: "Tools")
let coreMetrics = product("CoreMetrics", of: "swift-metrics", for: "Metrics")
let metricsTestKit = product("MetricsTestKit", of: "swift-metrics", for: "Metrics")
let tracing = product("Tracing", of: "swift-distributed-tracing", for: "Tracing")
let inMemoryTracing = product("InMemoryTracing", of: "swift-distributed-tracing", for: "Tracing")
let serviceLifecycle = product("ServiceLifecycle", of: "swift-service-lifecycle", for: "ServiceLifecycle")
let configuration = product("Configuration", of: "swift-configuration", for: "Configuration")

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
        name: "OAuthSecretService", ours: ["LinnetMessages", "LinnetOAuth", "LinnetSerialization", "CLibSecret"]),
    Module(
        name: "HAR",
        ours: [
            "LinnetMessages", "LinnetJSON", "LinnetSecurity", "LinnetSerialization", "LinnetCompression",
            "LinnetTransport", "LinnetSession",
        ],
        others: [nioCore, httpTypes],
        testOthers: [lifetimes, "LinnetAuthentication", "LinnetCookies", "LinnetMultipart"]),
    Module(
        name: "Metrics", ours: ["LinnetMessages", "LinnetTransport", "LinnetSession"], others: [coreMetrics],
        testOthers: [httpTypes, metricsTestKit, lifetimes], testFiles: ["conventions.json"]),
    Module(
        name: "Tracing", ours: ["LinnetMessages", "LinnetTransport", "LinnetSession"],
        others: [httpTypes, tracing], testOthers: [inMemoryTracing, lifetimes]),
    Module(
        name: "Timeline",
        ours: ["LinnetMessages", "LinnetJSON", "LinnetTransport", "LinnetSession"],
        testOthers: ["ChromiumSupport", httpTypes, lifetimes]),
    Module(
        name: "ServiceLifecycle", ours: ["LinnetSession", "LinnetTransport"], others: [serviceLifecycle],
        testOthers: [logging, lifetimes]),
    Module(
        name: "Configuration", ours: ["LinnetJSON", "LinnetSession", "LinnetSettings"], others: [configuration],
        testOthers: ["LinnetTransport"]),
    Module(
        name: "UIState", ours: ["LinnetCache", "LinnetTransport", "LinnetSession"], others: [httpTypes],
        testOthers: ["LinnetSerialization", "LinnetImageSerialization", lifetimes]),
    Module(
        name: "Testing", ours: ["LinnetMessages", "LinnetSecurity", "LinnetTransport", "COpenSSL"],
        others: [nioCore, nioPosix, nioHTTP1, nioHTTP2, nioHPACK, httpTypes],
        testOthers: [nioEmbedded, lifetimes]),
    Module(
        name: "TestingTraits", ours: ["LinnetTesting", "LinnetTransport"],
        testOthers: ["LinnetSecurity", "LinnetSession", nioCore, httpTypes, lifetimes]),
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
    // The next two without pkg-config, whose -pthread SwiftPM warns about: their declarations.h needs no flags.
    .systemLibrary(
        name: "CGdkPixbuf", path: "Modules/CGdkPixbuf",
        providers: [.apt(["libgdk-pixbuf-2.0-dev"]), .yum(["gdk-pixbuf2-devel"]), .brew(["gdk-pixbuf"])]),
    .systemLibrary(
        name: "CLibSecret", path: "Modules/CLibSecret",
        providers: [.apt(["libsecret-1-dev"]), .yum(["libsecret-devel"]), .brew(["libsecret"])]),
]

// The subcommands of linnet, each of which is also a program of its own, with the target of its code.
let commands: [(name: String, target: String)] = [
    ("request", "LinnetRequestCommand"),
    ("pins", "LinnetPinsCommand"),
    ("reach", "LinnetReachCommand"),
    ("transfers", "LinnetTransfersCommand"),
]

let executables: [Target] = [
    .target(
        name: "ExampleSupport", dependencies: ["LinnetMessages", "LinnetSecurity"], path: "Examples/ExampleSupport"),
    .executableTarget(
        name: "ExampleApp",
        // A program that links LinnetTestingTraits loads libTesting.so.
        dependencies: modules.filter { $0.name != "TestingTraits" }.map { .byName(name: $0.target) }
            + ["ExampleSupport", httpTypes, argumentParser],
        path: "Examples/ExampleApp",
        resources: ["html", "css", "js"].map { .embedInCode("Page/timeline.\($0)") }),
    .target(
        name: "LinnetRequestCommand",
        dependencies: [
            "Linnet", "LinnetBackground", "LinnetDiskCache", "LinnetHAR", "LinnetJSON", "LinnetOAuth", "LinnetTimeline",
            "LinnetWebSocket", "ExampleSupport", argumentParser,
        ],
        path: "Examples/LinnetRequest"),
    .target(
        name: "LinnetPinsCommand",
        dependencies: [
            "LinnetSecurity", "LinnetSettings", "LinnetTransport", "ExampleSupport", httpTypes, argumentParser,
        ],
        path: "Examples/LinnetPins"),
    .target(
        name: "LinnetReachCommand", dependencies: ["LinnetReachability", "ExampleSupport", argumentParser],
        path: "Examples/LinnetReach"),
    .target(
        name: "LinnetTransfersCommand",
        dependencies: ["LinnetBackground", "LinnetSession", "ExampleSupport", argumentParser],
        path: "Examples/LinnetTransfers"),
    .executableTarget(
        name: "linnet",
        dependencies: commands.map { .byName(name: $0.target) } + ["ExampleSupport", argumentParser],
        path: "Examples/Programs/linnet"),
    .executableTarget(
        name: "linnet-mock",
        dependencies: ["LinnetJSON", "LinnetTesting", "ExampleSupport", httpTypes, argumentParser],
        path: "Examples/LinnetMock"),
]

let commandPrograms: [Target] = commands.map {
    .executableTarget(
        name: "linnet-\($0.name)", dependencies: [.byName(name: $0.target), argumentParser],
        path: "Examples/Programs/linnet-\($0.name)")
}

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
    ("upload-queue", "UploadQueue", ["LinnetBackground"]),
    ("policy-file", "PolicyFile", []),
    ("mutual-tls", "MutualTLS", []),
    ("untrusted-server", "UntrustedServer", []),
    ("request-metrics", "RequestMetrics", ["LinnetMetrics", coreMetrics]),
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
    .target(
        name: "ChromiumSupport", dependencies: ["CommandSupport", "Linnet", "LinnetWebSocket"],
        path: "Tests/ChromiumSupport"),
    // All tests depend on this target, which links the watchdog into them.
    .target(name: "CommandSupport", dependencies: ["WatchdogSupport"], path: "Tests/CommandSupport"),
    .testTarget(
        name: "ExampleAppTests",
        dependencies: [
            "ExampleApp", "ExampleSupport", "Linnet", "LinnetBackground", "LinnetImageSerialization", "LinnetTesting",
            "LinnetWebSocket", "ChromiumSupport", "CommandSupport", "SanitizerSupport", httpTypes, argumentParser,
            lifetimes,
        ],
        path: "Tests/ExampleAppTests",
        exclude: ["Terminal/Frames"]),
    .testTarget(
        name: "RecipesTests",
        dependencies: recipes.map { .byName(name: "recipe-" + $0.name) } + [
            "Linnet", "LinnetImageSerialization", "LinnetTesting", "CommandSupport", "SanitizerSupport", "COpenSSL",
            httpTypes,
        ],
        path: "Tests/RecipesTests"),
    .testTarget(
        name: "LinnetRequestTests",
        dependencies: [
            "linnet", "linnet-request", "LinnetRequestCommand", "ExampleSupport", "Linnet", "LinnetHAR", "LinnetJSON",
            "LinnetTesting", "CommandSupport", "SanitizerSupport", httpTypes, argumentParser,
        ],
        path: "Tests/LinnetRequestTests"),
    .testTarget(
        name: "LinnetPinsTests",
        dependencies: [
            "linnet-pins", "LinnetSecurity", "LinnetSettings", "LinnetTesting", "CommandSupport", "SanitizerSupport",
        ],
        path: "Tests/LinnetPinsTests"),
    .testTarget(
        name: "LinnetReachTests",
        dependencies: [
            "linnet-reach", "ExampleSupport", "LinnetReachability", "LinnetTesting", "CommandSupport",
            "SanitizerSupport",
        ],
        path: "Tests/LinnetReachTests"),
    .testTarget(
        name: "LinnetMockTests", dependencies: ["linnet-mock", "ExampleSupport", "CommandSupport", "SanitizerSupport"],
        path: "Tests/LinnetMockTests"),
    .testTarget(
        name: "LinnetTransfersTests",
        dependencies: [
            "linnet-transfers", "ExampleSupport", "LinnetTesting", "CommandSupport", "SanitizerSupport", httpTypes,
        ],
        path: "Tests/LinnetTransfersTests"),
    .testTarget(
        name: "IntegrationTests",
        dependencies: [
            "Linnet", "LinnetAFNetworking", "LinnetBrotli", "LinnetHAR", "LinnetOAuth", "LinnetTransport",
            "LinnetWebSocket",
            "LinnetTesting", "CommandSupport",
            "SanitizerSupport", "linnet-request", httpTypes, lifetimes,
        ],
        path: "Tests/IntegrationTests",
        exclude: ["Servers"]),
    .testTarget(
        name: "ReliabilityTests",
        dependencies: [
            "LinnetBackground", "LinnetSecurity", "LinnetSession", "LinnetTransport", "LinnetWebSocket",
            "LinnetTesting", "CommandSupport", "SanitizerSupport", httpTypes, lifetimes,
        ],
        path: "Tests/ReliabilityTests"),
]

let package = Package(
    name: "linnet",
    platforms: [.macOS(.v15)],
    products: modules.map { .library(name: $0.target, targets: [$0.target]) } + [
        .executable(name: "ExampleApp", targets: ["ExampleApp"]),
        .executable(name: "linnet", targets: ["linnet"]), .executable(name: "linnet-mock", targets: ["linnet-mock"]),
    ] + commands.map { .executable(name: "linnet-\($0.name)", targets: ["linnet-\($0.name)"]) },
    traits: defaultTraits.union(optionalTraits).union([
        .default(
            enabledTraits: Set((enablesAllTraits ? defaultTraits.union(optionalTraits) : defaultTraits).map(\.name)))
    ]),
    dependencies: [
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.0"),
        .package(url: "https://github.com/apple/swift-nio-http2", from: "1.46.0"),
        .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.0"),
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.0"),
        .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
        .package(url: "https://github.com/apple/swift-metrics", from: "2.13.0"),
        .package(url: "https://github.com/apple/swift-distributed-tracing", from: "1.7.0"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
        .package(url: "https://github.com/apple/swift-configuration", from: "1.4.0", traits: [.defaults]),
    ],
    targets: systemLibraries
        + modules.map {
            .target(
                name: $0.target, dependencies: $0.ours.map { .byName(name: $0) } + $0.others,
                path: "Modules/\($0.name)")
        }
        + modules.map {
            .testTarget(
                name: "\($0.name)Tests", dependencies: $0.testDependencies, path: "Tests/\($0.name)Tests",
                exclude: $0.testFiles)
        }
        + executables + commandPrograms
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

// LINNET_WHOLE_MODULES=1, which `.ci/run` sets, compiles each module by one process in debug builds, and once, instead of a second
// time for its interface; tests have no debug information. That takes less processor time than batches of files, but a change of one
// file compiles the whole module again.
let compilesWholeModules = Context.environment["LINNET_WHOLE_MODULES"] == "1"
let wholeModule = [
    "-disable-batch-mode", "-whole-module-optimization", "-num-threads", "2", "-no-emit-module-separately-wmo",
]

let targetsInC = ["SanitizerSupport", "WatchdogSupport", "CObjectLedger"]
for target in package.targets where target.type != .system && !targetsInC.contains(target.name) {
    target.swiftSettings = [
        .enableUpcomingFeature("ExistentialAny"),
        .enableUpcomingFeature("InternalImportsByDefault"),
        .enableUpcomingFeature("MemberImportVisibility"),
        .enableUpcomingFeature("InferIsolatedConformances"),
        .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
    ]
    if compilesWholeModules {
        let flags = target.type == .test ? wholeModule + ["-Xfrontend", "-gnone"] : wholeModule
        target.swiftSettings?.append(.unsafeFlags(flags, .when(configuration: .debug)))
    }
}
