// Foundation, not FoundationEssentials, for Process.
import Foundation

/// What one run of a client came to that somebody else wrote.
struct ForeignClient {
    let status: Int32
    let output: String
    let errors: String

    private static let curlPath = "/usr/bin/curl"
    private static let openSSLPath = "/usr/bin/openssl"

    static var hasCurl: Bool { FileManager.default.isExecutableFile(atPath: curlPath) }
    static var hasOpenSSL: Bool { FileManager.default.isExecutableFile(atPath: openSSLPath) }

    /// Runs curl, silent but for errors, and without the user's proxies and settings.
    static func curl(_ arguments: [String]) async throws -> ForeignClient {
        let common = ["--disable", "--noproxy", "*", "--silent", "--show-error", "--max-time", "240"]
        return try await run(curlPath, common + arguments, input: "")
    }

    /// Runs curl, silent but for errors, and without the user's proxies and settings.
    static func curl(_ arguments: String...) async throws -> ForeignClient {
        try await curl(arguments)
    }

    /// Sends text over TLS and receives until the end, by OpenSSL's own client.
    static func openSSL(port: Int, rootFile: String, send text: String) async throws -> ForeignClient {
        let arguments = ["s_client", "-connect", "127.0.0.1:\(port)", "-CAfile", rootFile, "-quiet"]
        return try await run(openSSLPath, arguments, input: text)
    }

    private static func run(_ path: String, _ arguments: [String], input: String) async throws -> ForeignClient {
        let process = Process()
        process.executableURL = URL(filePath: path)
        process.arguments = arguments
        let (standardInput, output, errors) = (Pipe(), Pipe(), Pipe())
        process.standardInput = standardInput
        process.standardOutput = output
        process.standardError = errors
        // Inputs and outputs here are small enough to wait in the pipes.
        try standardInput.fileHandleForWriting.write(contentsOf: Data(input.utf8))
        try standardInput.fileHandleForWriting.close()
        try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
            process.terminationHandler = { _ in continuation.resume() }
            do {
                try process.run()
            } catch {
                process.terminationHandler = nil
                continuation.resume(throwing: error)
            }
        }
        return ForeignClient(
            status: process.terminationStatus,
            output: String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self),
            errors: String(decoding: errors.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self))
    }
}
