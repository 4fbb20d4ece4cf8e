import FoundationEssentials
import Linnet
import LinnetHAR
import LinnetOAuth
import LinnetTimeline

/// Makes the session of a request, with its login, and the files that record it.
struct SessionRun {
    private let plan: RequestPlan
    private let request: RequestRun

    init(_ plan: RequestPlan) {
        self.plan = plan
        request = RequestRun(plan)
    }

    /// Sends the request, and returns the response's status.
    func status() async throws -> HTTPResponse.Status {
        guard let login = plan.login else { return try await send(with: nil) }
        let issuer = try HTTPSession {
            $0.securityPolicy = login.issuerPolicy
            $0.proxies = login.isIssuerInClear ? .none : plan.connection.proxies
        }
        do {
            let credential = try await login.credential(for: plan.request.url, with: issuer)
            let status = try await send(renewing: credential)
            await issuer.shutdown()
            return status
        } catch {
            await issuer.shutdown(.immediate)
            throw error
        }
    }

    private func send(
        renewing credential: RenewableCredential<OAuthAuthenticator>
    ) async throws -> HTTPResponse.Status {
        do {
            return try await send(with: .renewing(credential))
        } catch {
            // The timeout may have come during a renewal, and its new refresh token would be lost with the process. The
            // store is free again when the renewal has ended.
            _ = try? await credential.authenticator.store.update { $0 }
            throw error
        }
    }

    private func send(with authenticator: SessionAuthenticator?) async throws -> HTTPResponse.Status {
        let recorder = plan.output.har.map { _ in
            HARRecorder {
                $0.bodies = .all
                $0.maximumBodySize = 16 << 20
            }
        }
        let (jar, cache) = (try plan.stores.makeJar(), try plan.stores.makeCache())
        let timeline = plan.output.trace.map { _ in Timeline() }
        let session = try HTTPSession {
            request.configure(&$0)
            $0.authenticator = authenticator
            $0.cookieJar = jar
            $0.cacheStore = cache
            if let recorder { $0.instruments.append(recorder) }
            if let timeline { $0.instruments.append(timeline) }
        }
        do {
            let status = try await request.send(by: session)
            await session.shutdown()
            try write(recorder, timeline)
            try plan.stores.save(jar)
            return status
        } catch {
            await session.shutdown(.immediate)
            // The error of the request matters more.
            try? write(recorder, timeline)
            throw error
        }
    }

    private func write(_ recorder: HARRecorder?, _ timeline: Timeline?) throws {
        if let file = plan.output.har { try recorder?.write(to: file) }
        if let file = plan.output.trace { try timeline?.write(to: file) }
    }
}
