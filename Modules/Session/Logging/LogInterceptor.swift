internal import FoundationEssentials
internal import HTTPTypes
internal import LinnetMessages
internal import LinnetSerialization
internal import LinnetTransport
internal import Logging

/// The innermost interceptor, which logs each attempt's request and response, redacted.
///
/// Messages are constant; variable values are in the metadata: `request` is the number of the request in the process, `send`
/// counts how often it was sent. Bodies are not logged.
struct LogInterceptor: Interceptor {
    let logger: Logger
    let redaction: Redaction

    func intercept(_ request: SessionRequest, next: InterceptorChain) async throws -> StreamedResponse {
        var facts = facts(of: request)
        if let record = next.exchange.record {
            facts["request"] = "\(record.id)"
            facts["send"] = "\(record.nextSend())"
        }
        logger.debug("sending request", metadata: facts + fields(request.headerFields))
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
            facts["cause"] = error.cause
            facts["timeout"] = error.timeout.map { "\($0)" }
            logger.info("request failed", metadata: facts)
            throw error
        }
    }

    private func facts(of request: SessionRequest) -> Logger.Metadata {
        var facts: Logger.Metadata = ["method": "\(request.method)", "url": "\(redaction.text(of: request.url))"]
        facts["tag"] = request.options.tag.map { "\($0)" }
        return facts
    }

    /// Returns the header fields as metadata, at log level `trace`.
    private func fields(_ fields: HTTPFields) -> Logger.Metadata {
        guard logger.logLevel <= .trace else { return [:] }
        return ["fields": .array(fields.map { "\($0.name): \(redaction.value(of: $0))" })]
    }
}

extension SessionError {
    /// The codes and types of the underlying errors, outermost first. Their messages may hold secrets.
    fileprivate var cause: Logger.MetadataValue? {
        var names: [String] = []
        var error = underlying
        while let current = error, names.count < 4 {
            if let known = current as? TransportError {
                names.append("\(known.code)")
                error = known.underlying
            } else if let known = current as? SerializationError {
                names.append("\(known.code)")
                error = known.underlying
            } else {
                names.append("\(type(of: current))")
                error = nil
            }
        }
        return names.isEmpty ? nil : "\(names.joined(separator: ", "))"
    }
}

extension Logger.Metadata {
    fileprivate static func + (facts: Self, more: Self) -> Self {
        facts.merging(more) { $1 }
    }
}
