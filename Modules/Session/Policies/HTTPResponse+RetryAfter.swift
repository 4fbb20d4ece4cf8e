package import HTTPTypes
internal import LinnetMessages

extension HTTPResponse {
    /// The time that the server wants the client to wait; nil if it does not say. A date is relative to the response's
    /// own Date, so that the two clocks need not agree.
    package var retryAfter: Duration? {
        guard let text = headerFields[.retryAfter]?.trimmingOptionalWhitespace, !text.isEmpty else { return nil }
        // A number that does not fit is as good as never.
        if text.utf8.allSatisfy({ 0x30...0x39 ~= $0 }) { return .seconds(Int64(text) ?? Int64(Int32.max)) }
        guard let moment = HTTPDate(text) else { return nil }
        let now = headerFields[.date].flatMap { HTTPDate($0.trimmingOptionalWhitespace) } ?? .now
        return .seconds(max(0, moment.secondsSinceEpoch - now.secondsSinceEpoch))
    }
}
