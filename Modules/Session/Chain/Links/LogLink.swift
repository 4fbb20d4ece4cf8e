internal import FoundationEssentials
internal import HTTPTypes
internal import LinnetMessages
internal import LinnetSerialization
internal import LinnetTransport
internal import Logging

/// Logs each attempt's request and response, redacted. ``RetryLink`` has it log the retries.
///
/// Messages are constant; variable values are in the metadata, and numbers are numbers. The documentation of the module
/// has the table of messages, levels and metadata. Bodies are not logged.
struct LogLink: ChainLink {
    /// The notes about the logged send.
    struct Note: Sendable {
        let start = Tick.now
        let facts: Logger.Metadata
    }

    let logger: Logger
    let redaction: Redaction

    func send(_ flight: inout Flight) -> ChainStep {
        var facts = facts(of: flight.request)
        if let record = flight.record {
            facts["request"] = .number(record.id)
            facts["send"] = .number(record.nextSend())
        }
        flight.log = Boxed(Note(facts: facts))
        logger.debug("sending request", metadata: facts + fields(flight.request.headerFields))
        return .proceed
    }

    func receive(_ response: inout StreamedResponse, _ flight: inout Flight) -> ChainStep {
        var facts = facts(of: flight)
        facts["status"] = .number(response.head.status.code)
        if let metrics = response.attempts.last {
            facts["protocol"] = metrics.httpVersion.map { "\($0)" }
            facts["connection"] = .number(metrics.connectionID)
            facts["reused"] = .stringConvertible(metrics.isReusedConnection)
        }
        logger.log(
            level: .ofResponse(with: response.head.status), "response received",
            metadata: facts + fields(response.head.headerFields))
        return .proceed
    }

    func receive(_ failure: inout SessionError, _ flight: inout Flight) -> ChainStep {
        logger.log(level: .ofFailure(failure), "request failed", metadata: facts(of: flight) + facts(of: failure))
        return .proceed
    }

    /// Logs that an attempt is retried after a delay.
    func retrying(_ attempt: RetryPolicy.Attempt, _ flight: Flight, after delay: Duration) {
        var facts = facts(of: attempt, flight)
        facts["delay"] = .seconds(delay)
        logger.notice("retrying request", metadata: facts)
    }

    /// The retry was refused by the session's budget.
    func notRetrying(_ attempt: RetryPolicy.Attempt, _ flight: Flight) {
        logger.notice("retry budget exhausted", metadata: facts(of: attempt, flight))
    }

    /// The request is sent once more, because its answer is late.
    func hedging(_ flight: Flight, _ attempt: Int) {
        var facts = facts(of: flight.request)
        facts["request"] = flight.record.map { .number($0.id) }
        facts["attempt"] = .number(attempt)
        logger.debug("hedging request", metadata: facts)
    }

    private func facts(of attempt: RetryPolicy.Attempt, _ flight: Flight) -> Logger.Metadata {
        var facts = facts(of: attempt.request)
        facts["request"] = flight.record.map { .number($0.id) }
        facts["attempt"] = .number(attempt.number)
        facts["status"] = attempt.head.map { .number($0.status.code) }
        if let error = attempt.error { facts = facts + self.facts(of: error) }
        return facts
    }

    private func facts(of error: SessionError) -> Logger.Metadata {
        var facts: Logger.Metadata = ["error": "\(error.code)"]
        facts["cause"] = error.cause
        facts["timeout"] = error.timeout.map { "\($0)" }
        return facts
    }

    private func facts(of flight: Flight) -> Logger.Metadata {
        var facts = flight.log?.value.facts ?? facts(of: flight.request)
        facts["duration"] = flight.log.map { .seconds(.zero - $0.value.start.timeLeft) }
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

extension Logger.MetadataValue {
    fileprivate static func number(_ number: some BinaryInteger & Sendable) -> Self { .stringConvertible(number) }

    /// A duration as a `Double`.
    fileprivate static func seconds(_ duration: Duration) -> Self { .stringConvertible(duration / .seconds(1)) }
}

extension Logger.Level {
    fileprivate static func ofResponse(with status: HTTPResponse.Status) -> Self {
        status.kind == .serverError ? .warning : .debug
    }

    fileprivate static func ofFailure(_ error: SessionError) -> Self {
        switch error.code {
        case .cancelled: .debug
        case .trustRefused: .error
        case .connectionFailed, .nameResolutionFailed, .connectionLost, .tlsFailed, .timeout: .warning
        default: .info
        }
    }
}
