// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "posts-client",
    products: [.library(name: "PostsClient", targets: ["PostsClient"])],
    dependencies: [
        // .package(url: "https://…/linnet", from: "0.1.0", traits: ["Testing"])
        .package(name: "linnet", path: "../../..", traits: ["Testing"])
    ],
    targets: [
        .target(name: "PostsClient", dependencies: [.product(name: "LinnetSession", package: "linnet")]),
        .testTarget(
            name: "PostsClientTests",
            dependencies: [
                "PostsClient",
                .product(name: "LinnetTesting", package: "linnet"),
                .product(name: "LinnetTestingTraits", package: "linnet"),
            ]),
    ])
