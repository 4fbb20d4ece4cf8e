// swift-tools-version: 6.2
import PackageDescription

// A separate package, so that the build of Linnet does not need GTK.

let package = Package(
    name: "linnet-gtk-example",
    platforms: [.macOS(.v15)],
    dependencies: [.package(name: "linnet", path: "../..")],
    targets: [
        .systemLibrary(
            name: "CGTK", path: "CGTK", pkgConfig: "gtk4",
            providers: [.apt(["libgtk-4-dev"]), .yum(["gtk4-devel"]), .brew(["gtk4"])]),
        .executableTarget(
            name: "GTKExample",
            dependencies: ["CGTK"]
                + ["Linnet", "LinnetImageSerialization", "LinnetTesting", "LinnetUIState"].map {
                    .product(name: $0, package: "linnet")
                },
            path: "GTKExample"),
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
