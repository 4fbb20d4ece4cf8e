import ArgumentParser
import ExampleSupport
import FoundationEssentials
import Linnet
import LinnetOAuth

/// Sends one GET request. Prints the body to standard output, and the timings to standard error.
@main
struct LinnetRequest: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "linnet-request",
        abstract: "Sends one GET request. Prints the body to standard output, and the timings to standard error.",
        discussion: """
            Over https, the certificate chain and the host name are always verified before the request is sent. In a \
            terminal, a line break is added to a body that does not end with one.

            --login gets a token from an OAuth issuer: with the browser if there is a display, and otherwise with a code \
            that is entered on another device. The token is sent to the origin of the URL alone, also after redirects. It \
            is kept in a file of its own for each issuer and client, which only the user can read.

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
        guard let login = plan.login else { return try await send(plan, with: nil) }
        let issuer = try HTTPSession {
            $0.securityPolicy = plan.issuerPolicy
            $0.proxies = plan.proxies
        }
        do {
            let credential = try await login.credential(for: plan.request.url, with: issuer)
            let status = try await send(plan, renewing: credential)
            await issuer.shutdown()
            return status
        } catch {
            await issuer.shutdown(.immediate)
            throw error
        }
    }

    private func send(
        _ plan: RequestPlan, renewing credential: RenewableCredential<OAuthAuthenticator>
    ) async throws -> HTTPResponse.Status {
        do {
            return try await send(plan, with: .renewing(credential))
        } catch {
            // The timeout may have come during a renewal, and its new refresh token would be lost with the process. The
            // store is free again when the renewal has ended.
            _ = try? await credential.authenticator.store.update { $0 }
            throw error
        }
    }

    private func send(
        _ plan: RequestPlan, with authenticator: SessionAuthenticator?
    ) async throws -> HTTPResponse.Status {
        let session = try HTTPSession {
            $0.authenticator = authenticator
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
