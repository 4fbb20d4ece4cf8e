import ArgumentParser
import ExampleSupport
import FoundationEssentials
import Linnet

/// Sends one GET request. Prints the body to standard output, and the timings to standard error.
@main
struct LinnetRequest: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "linnet-request",
        abstract: "Sends one GET request. Prints the body to standard output, and the timings to standard error.",
        discussion: """
            Over https, the certificate chain and the host name are always verified before the request is sent. In a \
            terminal, a line break is added to a body that does not end with one.

            Exit codes: 0 success; 1 no complete response was received; 22 the status of the response is 400 or higher, and \
            its body was printed; 64 usage error.
            """,
        version: ToolVersion.text)

    @OptionGroup var arguments: Arguments

    func run() async throws {
        let status: HTTPResponse.Status
        do {
            status = try await send(RequestPlan(arguments))
        } catch {
            let line = ErrorLine(error)
            try? StandardStream.error.write(line.text + "\n")
            throw ExitCode(line.exitCode)
        }
        if status.code >= 400 { throw ExitCode(22) }
    }

    private func send(_ plan: RequestPlan) async throws -> HTTPResponse.Status {
        let session = try HTTPSession {
            $0.securityPolicy = plan.policy
            $0.timeouts.request = plan.timeout
            $0.httpVersions = plan.httpVersions
            $0.proxies = plan.proxies
            $0.resolution = plan.resolution
        }
        do {
            let response = try await session.call(plan.request).bytes(validation: .none)
            var body = BodyOutput()
            for try await chunk in response.body { try body.write(chunk) }
            try body.end()
            await session.shutdown()
            try StandardStream.error.write(TimingsTable(response.metrics, status: response.status).text)
            return response.status
        } catch {
            await session.shutdown(.immediate)
            throw error
        }
    }
}
