package import FoundationEssentials

extension Date {
    /// Parses ISO 8601 with a time zone, with or without a fraction of a second; nil for a day that does not exist.
    package init?(iso8601Text text: String) {
        guard UsualDate.namesDay(text),
            let date = try? Date.ISO8601FormatStyle(includingFractionalSeconds: true).parse(text)
        else { return nil }
        // The number nearest to the written decimal; the parser's sums may miss it.
        self = Date(timeIntervalSinceReferenceDate: (date.timeIntervalSinceReferenceDate * 1e6).rounded() / 1e6)
    }

    /// ISO 8601 in UTC, with milliseconds unless they are zero.
    package var iso8601Text: String {
        let milliseconds = (timeIntervalSinceReferenceDate * 1000).rounded()
        let isWhole = milliseconds.truncatingRemainder(dividingBy: 1000) == 0
        // The format truncates to milliseconds, and half of the numbers nearest to a millisecond are below it.
        let rounded = Date(timeIntervalSinceReferenceDate: (milliseconds + (isWhole ? 0 : 0.25)) / 1000)
        return rounded.formatted(isWhole ? .iso8601 : Date.ISO8601FormatStyle(includingFractionalSeconds: true))
    }
}
