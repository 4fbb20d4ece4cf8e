import HTTPTypes

/// The end of a request's time, by the client's wish and the gateway's limit.
///
/// A client sends the time that it still waits, in milliseconds; the upstream gets the rest of it. A remaining time
/// needs no clocks that agree.
struct Deadline {
    static let fieldName = HTTPField.Name("X-Request-Timeout-Ms") ?? .maxForwards

    let instant: ContinuousClock.Instant

    init(_ fields: HTTPFields, limit: Duration) throws(Problem) {
        guard let text = fields[Self.fieldName] else {
            instant = .now + limit
            return
        }
        guard (1...9).contains(text.utf8.count), text.utf8.allSatisfy("0123456789".utf8.contains),
            let milliseconds = Int(text)
        else { throw .invalidTimeout }
        instant = .now + min(limit, .milliseconds(milliseconds))
    }

    /// The remaining time; throws if there is none.
    func remaining() throws(Problem) -> Duration {
        let remaining = ContinuousClock.now.duration(to: instant)
        guard remaining > .zero else { throw .timeout }
        return remaining
    }
}
