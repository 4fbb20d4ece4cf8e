import ArgumentParser
import ExampleSupport
import FoundationEssentials
import HTTPTypes
import LinnetTesting

/// Answers requests as a file says, for tests in any language and for people.
@main
struct LinnetMock: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "linnet-mock",
        abstract: "Answers HTTP requests on the loopback address as a file of routes says.",
        discussion: """
            The first line of standard output is the server's URL. Each request is a line of standard error, or with \
            --json an object on standard output. SIGINT and SIGTERM end the program.

            THE FILE:
              {"routes": [
                {"method": "GET", "path": "/users/1", "json": {"name": "Ada"}, "fields": {"Vary": "Accept"}},
                {"path": "/slow/*", "text": "hello", "delay": 1.5, "bytesPerSecond": 1000},
                {"path": "/cut", "file": "a", "faults": [{"effect": "reset", "at": "responseBody", "after": 9}]},
                {"path": "/twice", "responses": [{"status": 503}, {"text": "ok"}]}
              ]}
            A response has a status (200), fields, and one of text, json, base64, file, events and location. The first \
            route with the method and the path answers. Several responses answer one request each. Effects are close, \
            garbage, goAway, halfClose, reset, resetStream, stall and truncate, at requestHead, requestBody, \
            responseHead, responseBody and responseEnd.

            Exit codes: 0 ended by a signal; 1 ended by a signal after a request that had no route, or no response left; \
            2 the server cannot start; 65 the file cannot be used; 64 usage error.
            """,
        version: ToolVersion.text)

    @Argument(help: "The file of routes, in JSON.")
    var file: String

    @Option(help: "Listen on this port; by default on a free one.")
    var port: UInt16 = 0

    @Flag(help: "Use TLS, with a certificate for localhost from an authority that is made for this run.")
    var tls = false

    @Option(help: ArgumentHelp("Write the certificate of the authority, in PEM, to this file.", valueName: "file"))
    var rootCertificate: String?

    @Flag(name: .customLong("json"), help: "Print each request as an object in JSON, one in a line.")
    var isJSON = false

    func validate() throws {
        if rootCertificate != nil && !tls { throw ValidationError("--root-certificate needs --tls.") }
    }

    func run() async throws {
        do {
            let responder = try Responder(
                try RouteFile(path: file), in: URL(filePath: file).deletingLastPathComponent(), isJSON: isJSON)
            let server = try await start(responder)
            // Without a slash at its end, so that a path can follow.
            let url = server.url.absoluteString
            try StandardStream.output.write("\(url.hasSuffix("/") ? String(url.dropLast()) : url)\n")
            await Signals.termination()
            await server.shutdown()
            if responder.hasRefused { throw ExitCode(1) }
        } catch let error as RouteFileError {
            throw try failure(error.message, 65)
        } catch let error as TestingError {
            throw try failure("\(error)", 2)
        }
    }

    private func start(_ responder: Responder) async throws -> MockServer {
        let authority = tls ? try TestPKI(named: "linnet-mock") : nil
        if let authority, let rootCertificate {
            do {
                try Data(authority.rootPEM.utf8).write(to: URL(filePath: rootCertificate), options: .atomic)
            } catch {
                throw try failure("\(rootCertificate) cannot be written: \(RouteFileError.reason(of: error))", 2)
            }
        }
        let configuration = MockServer.Configuration {
            $0.port = Int(port)
            $0.httpVersions = .both
        }
        return try await MockServer.start(tls: try authority?.identity(), configuration: configuration) {
            await responder.answer($0)
        }
    }

    private func failure(_ text: String, _ code: Int32) throws -> ExitCode {
        try StandardStream.error.write("linnet-mock: \(OneLine.text(text))\n")
        return ExitCode(code)
    }
}
