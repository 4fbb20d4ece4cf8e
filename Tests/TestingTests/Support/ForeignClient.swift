import CommandSupport
import FoundationEssentials

/// The result of one run of an independent client.
struct ForeignClient {
    let status: Int32
    let output: String
    let errors: String

    private static let curlPath = "/usr/bin/curl"
    private static let openSSLPath = "/usr/bin/openssl"

    private static let nghttpPath = "/usr/bin/nghttp"
    private static let h2loadPath = "/usr/bin/h2load"

    static var hasCurl: Bool { FileManager.default.isExecutableFile(atPath: curlPath) }
    static var hasOpenSSL: Bool { FileManager.default.isExecutableFile(atPath: openSSLPath) }

    static var hasNghttp: Bool { [nghttpPath, h2loadPath].allSatisfy(FileManager.default.isExecutableFile) }

    /// Whether curl is installed and supports HTTP/2.
    static let hasCurlWithHTTP2: Bool = {
        guard hasCurl, let run = try? Command.run([curlPath, "--version"]) else { return false }
        return run.text.split { $0.isWhitespace }.contains("HTTP2")
    }()

    /// Runs nghttp, which prints each frame without the bodies.
    static func nghttp(_ arguments: String...) async throws -> ForeignClient {
        try await run(nghttpPath, ["--no-dep", "--null-out", "--verbose", "--timeout=240"] + arguments, input: "")
    }

    /// Runs h2load, which sends many requests.
    static func h2load(_ arguments: String...) async throws -> ForeignClient {
        try await run(h2loadPath, arguments, input: "")
    }

    /// Runs curl, silent but for errors, and without the user's proxies and settings.
    static func curl(_ arguments: [String], input: String = "") async throws -> ForeignClient {
        let common = ["--disable", "--noproxy", "*", "--silent", "--show-error", "--max-time", "240"]
        return try await run(curlPath, common + arguments, input: input)
    }

    /// Runs curl, silent but for errors, and without the user's proxies and settings.
    static func curl(_ arguments: String...) async throws -> ForeignClient {
        try await curl(arguments)
    }

    /// Sends text over TLS with OpenSSL's client, and receives until the end.
    static func openSSL(port: Int, rootFile: String, send text: String) async throws -> ForeignClient {
        let arguments = ["s_client", "-connect", "127.0.0.1:\(port)", "-CAfile", rootFile, "-quiet"]
        return try await run(openSSLPath, arguments, input: text)
    }

    private static func run(_ path: String, _ arguments: [String], input: String) async throws -> ForeignClient {
        let run = try await Command.run([path] + arguments, input: input)
        return ForeignClient(status: run.status, output: run.text, errors: run.errors)
    }
}
