internal import FoundationEssentials
internal import HTTPTypes
internal import LinnetSerialization
internal import Logging

/// The lowest link: writes what is sent and what comes back, attempt by attempt, redacted.
///
/// Messages never change; what changes is in the metadata. Bodies are not written.
struct LogInterceptor: Interceptor {
    let logger: Logger
    let redaction: Redaction

    func intercept(_ request: Request, next: Next) async throws -> StreamedResponse {
        var facts = facts(of: request)
        logger.debug("request sent", metadata: facts + fields(request.headerFields))
        let start = ContinuousClock.now
        do {
            let response = try await next(request)
            facts["duration"] = "\(start.duration(to: .now))"
            facts["status"] = "\(response.head.status.code)"
            if let metrics = response.attempts.last {
                facts["protocol"] = metrics.httpVersion.map { "\($0)" }
                facts["connection"] = "\(metrics.connectionID)"
                facts["reused"] = "\(metrics.isReusedConnection)"
            }
            logger.debug("response received", metadata: facts + fields(response.head.headerFields))
            return response
        } catch {
            facts["duration"] = "\(start.duration(to: .now))"
            facts["error"] = "\(error.code)"
            facts["timeout"] = error.timeout.map { "\($0)" }
            logger.info("request failed", metadata: facts)
            throw error
        }
    }

    private func facts(of request: Request) -> Logger.Metadata {
        var facts: Logger.Metadata = ["method": "\(request.method)", "url": "\(redaction.text(of: request.url))"]
        facts["tag"] = request.options.tag.map { "\($0)" }
        return facts
    }

    /// The header fields, for those who want to know everything.
    private func fields(_ fields: HTTPFields) -> Logger.Metadata {
        guard logger.logLevel <= .trace else { return [:] }
        return ["fields": .array(fields.map { "\($0.name): \(redaction.value(of: $0))" })]
    }
}

extension Logger.Metadata {
    fileprivate static func + (facts: Self, more: Self) -> Self {
        facts.merging(more) { $1 }
    }
}
