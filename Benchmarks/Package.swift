// swift-tools-version: 6.2
import PackageDescription

// A package of its own, so that what is measured against never enters a user's graph.
let package = Package(
    name: "linnet-benchmarks",
    platforms: [.macOS(.v15)],
    dependencies: [.package(name: "linnet", path: "..")],
    targets: [
        .executableTarget(name: "linnet-soak", dependencies: [.product(name: "Linnet", package: "linnet")])
    ],
    swiftLanguageModes: [.v6]
)
