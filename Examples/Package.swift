// swift-tools-version: 6.2
import Foundation
import PackageDescription

// The desktop face of the example app: a separate package, so that the build of Linnet does not need GTK. Its module
// has the same files as the other faces for the server, the client, the model and the state.

func linnet(_ name: String) -> Target.Dependency { .product(name: name, package: "linnet") }

let shared = ["Server", "Timeline", "TimelineOptions.swift", "TimelineSetup.swift"]
let support = ["OneLine.swift", "Signals.swift", "TrustRefusal+Advice.swift", "UnicodeScalar+Terminal.swift"]

/// The contents of a folder apart from some.
func others(in folder: String, but kept: [String]) -> [String] {
    let names = try? FileManager.default.contentsOfDirectory(atPath: Context.packageDirectory + "/" + folder)
    return (names ?? []).filter { !(kept + ["Package.swift"]).contains($0) }.sorted().map {
        folder.isEmpty ? $0 : "\(folder)/\($0)"
    }
}

let package = Package(
    name: "linnet-example-desktop",
    platforms: [.macOS(.v15)],
    dependencies: [
        .package(name: "linnet", path: "..", traits: ["SQLite", "Testing"]),
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.0"),
        .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0"),
    ],
    targets: [
        .systemLibrary(
            name: "CAdwaita", path: "Desktop/CAdwaita", pkgConfig: "libadwaita-1",
            providers: [.apt(["libadwaita-1-dev"]), .yum(["libadwaita-devel"]), .brew(["libadwaita"])]),
        .executableTarget(
            name: "ExampleDesktop",
            dependencies: [
                "CAdwaita", linnet("Linnet"), linnet("LinnetBackground"),
                linnet("LinnetImageSerialization"), linnet("LinnetTesting"), linnet("LinnetUIState"),
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
            ],
            path: ".",
            exclude: ["Desktop/CAdwaita", "Desktop/test"]
                + others(in: "", but: ["Desktop", "ExampleApp", "ExampleSupport"])
                + others(in: "ExampleApp", but: shared) + others(in: "ExampleSupport", but: support),
            sources: ["Desktop", "ExampleApp"] + support.map { "ExampleSupport/\($0)" }),
    ],
    swiftLanguageModes: [.v6]
)

for target in package.targets where target.type != .system {
    target.swiftSettings = [
        .enableUpcomingFeature("ExistentialAny"),
        .enableUpcomingFeature("InternalImportsByDefault"),
        .enableUpcomingFeature("MemberImportVisibility"),
        .enableUpcomingFeature("InferIsolatedConformances"),
        .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
    ]
}
