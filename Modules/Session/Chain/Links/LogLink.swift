internal import FoundationEssentials
internal import HTTPTypes
internal import LinnetMessages
internal import LinnetSerialization
internal import LinnetTransport
internal import Logging

/// Logs each attempt's request and response, redacted.
///
/// Messages are constant; variable values are in the metadata: `request` is the number of the request in the process, `send`
/// counts how often it was sent. Bodies are not logged.
struct LogLink: ChainLink {
    /// What is known about the send that is logged.
    struct Note: Sendable {
        let start = Tick.now
        let facts: Logger.Metadata
    }

    let logger: Logger
    let redaction: Redaction

    func send(_ flight: inout Flight) -> ChainStep {
        var facts = facts(of: flight.request)
        if let record = flight.record {
            facts["request"] = "\(record.id)"
            facts["send"] = "\(record.nextSend())"
        }
        flight.log = Boxed(Note(facts: facts))
        logger.debug("sending request", metadata: facts + fields(flight.request.headerFields))
        return .proceed
    }

    func receive(_ response: inout StreamedResponse, _ flight: inout Flight) -> ChainStep {
        var facts = facts(of: flight)
        facts["status"] = "\(response.head.status.code)"
        if let metrics = response.attempts.last {
            facts["protocol"] = metrics.httpVersion.map { "\($0)" }
            facts["connection"] = "\(metrics.connectionID)"
            facts["reused"] = "\(metrics.isReusedConnection)"
        }
        logger.debug("response received", metadata: facts + fields(response.head.headerFields))
        return .proceed
    }

    func receive(_ failure: inout SessionError, _ flight: inout Flight) -> ChainStep {
        var facts = facts(of: flight)
        facts["error"] = "\(failure.code)"
        facts["cause"] = failure.cause
        facts["timeout"] = failure.timeout.map { "\($0)" }
        logger.info("request failed", metadata: facts)
        return .proceed
    }

    private func facts(of flight: Flight) -> Logger.Metadata {
        var facts = flight.log?.value.facts ?? facts(of: flight.request)
        facts["duration"] = flight.log.map { "\(.zero - $0.value.start.timeLeft)" }
        return facts
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
