package import ArgumentParser
import ExampleSupport
import FoundationEssentials
import Linnet

/// Sends one request, and prints the response.
package struct RequestCommand: AsyncParsableCommand {
    private static let program = ProgramName.isProgram(of: "request") ? ProgramName.current : "linnet"

    package static let configuration = CommandConfiguration(
        commandName: ProgramName.ofCommand("request"),
        abstract: "Sends a request, and prints the response.",
        discussion: """
            EXAMPLES:
              \(program) example.com/posts                        the body of a GET
              \(program) example.com/posts q==birds X-Key:1       with a query and a header field
              \(program) post example.com/posts name=x age:=3     {"name":"x","age":3}
              \(program) post example.com/login user=x --form     user=x
              \(program) post example.com/photos file@a.jpg       a form with a file
              \(program) put example.com/a.jpg -d @a.jpg          the bytes of a file
              \(program) -iL example.com                          the heads too, after redirects

            Over https, the certificate chain and the host name are always verified before the request is sent, except with -k. \
            In a terminal, JSON and XML are indented and colored (NO_COLOR turns colors off), and characters that control \
            the terminal are replaced. In a pipe or a file, all bytes are as they were sent.

            linnet-request is linnet by its first name: it always has -L and --timings, and no subcommands.

            --login gets a token from an OAuth issuer: with the browser if there is a display, and otherwise with a code \
            that is entered on another device. The token is sent to the origin of the URL alone, also after redirects. It \
            is kept in a file of its own for each issuer and client, which only the user can read, and used again by requests \
            whose --scope it covers.

            --har writes what was sent and received, also if the request fails: one entry for each redirect and answer to a \
            challenge. Credentials, cookies and secret parameters of URLs are redacted, but bodies are not. Requests to an \
            OAuth issuer are left out.

            Exit codes, as of curl where it has one: 0 success; 1 another failure; 6 the name cannot be resolved; 7 no \
            connection; 22 the status is 400 or higher, and the body was printed; 23 a file cannot be written; 28 timeout; \
            35 the TLS handshake failed; 47 too many redirects; 52 the connection ended too early; 58 a client \
            certificate is missing or refused; 60 the certificate is not trusted; 64 usage error.
            """,
        version: ToolVersion.text)

    @OptionGroup var arguments: Arguments

    package init() {}

    package func run() async throws {
        let status: HTTPResponse.Status
        var tokenFile: String?
        do {
            let plan = try RequestPlan(arguments)
            tokenFile = plan.login?.file.path
            if plan.connection.isInsecure { try warn() }
            status = try await SessionRun(plan).status()
        } catch {
            let line = ErrorLine(error, tokenFile: tokenFile)
            try? StandardStream.error.write(line.text + "\n")
            throw ExitCode(line.exitCode)
        }
        if status.code >= 400 { throw ExitCode(22) }
    }

    private func warn() throws {
        try StandardStream.error.write(
            "\(Self.program): -k accepts any certificate: a party on the way can read and change everything.\n")
    }
}
