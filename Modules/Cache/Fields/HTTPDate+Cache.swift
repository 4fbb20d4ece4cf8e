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
        let (year, month, day) = Self.civil(Int64(days))
        let names = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"]
        let name = names[Int((Int64(days) % 7 + 7) % 7)]
        let clock = [time / 3600, time / 60 % 60, time % 60].map { Self.padded($0, to: 2) }.joined(separator: ":")
        return
            "\(name), \(Self.padded(day, to: 2)) \(Self.months[Int(month) - 1]) \(Self.padded(year, to: 4)) \(clock) GMT"
    }

    private static func padded(_ number: Int64, to width: Int) -> String {
        let digits = String(number)
        return String(repeating: "0", count: max(0, width - digits.utf8.count)) + digits
    }

    /// The Gregorian date of a number of days since 1970-01-01. Years begin with March here, so that the leap day is
    /// the last one.
    private static func civil(_ days: Int64) -> (year: Int64, month: Int64, day: Int64) {
        let shifted = days + 719_468
        let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shiftedMonth = (5 * dayOfYear + 2) / 153
        let month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
        return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, dayOfYear - (153 * shiftedMonth + 2) / 5 + 1)
    }
}
