// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "weather",
    dependencies: [
        // .package(url: "https://…/linnet", from: "0.1.0", traits: ["Session"])
        .package(name: "linnet", path: "../../..", traits: ["Session"])
    ],
    targets: [
        .executableTarget(name: "weather", dependencies: [.product(name: "Linnet", package: "linnet")])
    ])
