import ArgumentParser
import ExampleSupport
import FoundationEssentials
import Linnet

/// Sends one GET: the body to standard output, what it cost to standard error.
@main
struct LinnetRequest: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "linnet-request",
        abstract: "Sends one GET: the body to standard output, timings to standard error.",
        discussion: """
            Over https the chain is always verified and the host name checked; when either fails, nothing is sent.

            Exit codes: 0 all is well; 1 no whole response came; 22 the response's status is 400 or more, its body was \
            printed all the same; 64 the command line is wrong.
            """,
        version: "0.1.0")

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
        let session = try Session {
            $0.securityPolicy = plan.policy
            $0.timeouts.request = plan.timeout
            $0.httpVersions = plan.httpVersions
        }
        do {
            let response = try await session.bytes(for: plan.request)
            for try await chunk in response { try StandardStream.output.write(chunk) }
            await session.shutdown()
            try StandardStream.error.write(TimingsTable(response.metrics, status: response.status).text)
            return response.status
        } catch {
            await session.shutdown(.immediate)
            throw error
        }
    }
}
