import FoundationEssentials

extension Double {
    /// The shortest text that reads back as the same number, without the fraction of a whole one: `2`, not `2.0`.
    var parameterText: String {
        let text = description
        return text.hasSuffix(".0") ? String(text.dropLast(2)) : text
    }
}

extension Date {
    /// Reads ISO 8601 with a time zone, with or without a fraction of a second.
    init?(parameterText text: String) {
        guard let date = try? Date.ISO8601FormatStyle(includingFractionalSeconds: true).parse(text) else { return nil }
        // The nearest number to what is written, which the parser's sums may miss.
        self = Date(timeIntervalSinceReferenceDate: (date.timeIntervalSinceReferenceDate * 1e6).rounded() / 1e6)
    }

    /// ISO 8601 in UTC; with milliseconds if there are any.
    var parameterText: String {
        let milliseconds = (timeIntervalSinceReferenceDate * 1000).rounded()
        let isWhole = milliseconds.truncatingRemainder(dividingBy: 1000) == 0
        let rounded = Date(timeIntervalSinceReferenceDate: milliseconds / 1000)
        return rounded.formatted(isWhole ? .iso8601 : Date.ISO8601FormatStyle(includingFractionalSeconds: true))
    }
}
