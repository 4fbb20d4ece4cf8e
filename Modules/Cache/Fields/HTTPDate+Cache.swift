internal import FoundationEssentials
internal import LinnetMessages

extension HTTPDate {
    /// Parses a date as caches do: letters in any case (RFC 9111, section 4.2).
    init?(caseInsensitive text: String) {
        self.init(text, ignoresCase: true)
    }

    /// The second that contains an instant, limited to the years 1 to 9999.
    init(_ date: Date) {
        let seconds = date.timeIntervalSince1970.rounded(.down)
        let range = -62_135_596_800.0...253_402_300_799.0
        self.init(secondsSinceEpoch: Int64(seconds.isNaN ? 0 : min(max(seconds, range.lowerBound), range.upperBound)))
    }

    /// The beginning of the second.
    var date: Date { Date(timeIntervalSince1970: Double(secondsSinceEpoch)) }

    /// The preferred format, such as `Sun, 06 Nov 1994 08:49:37 GMT` (RFC 9110, section 5.6.7).
    var text: String {
        let days = (Double(secondsSinceEpoch) / 86_400).rounded(.down)
        let time = secondsSinceEpoch - Int64(days) * 86_400
        let date = CivilDate(daysSinceEpoch: Int64(days))
        let names = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"]
        let name = names[Int((Int64(days) % 7 + 7) % 7)]
        let clock = [time / 3600, time / 60 % 60, time % 60].map { Self.padded($0, to: 2) }.joined(separator: ":")
        let (day, year) = (Self.padded(date.day, to: 2), Self.padded(date.year, to: 4))
        return "\(name), \(day) \(Self.months[Int(date.month) - 1]) \(year) \(clock) GMT"
    }

    private static func padded(_ number: Int64, to width: Int) -> String {
        let digits = String(number)
        return String(repeating: "0", count: max(0, width - digits.utf8.count)) + digits
    }
}
