internal import FoundationEssentials

/// A date of HTTP in any of its three formats (RFC 9110, section 5.6.7), in whole seconds since 1970.
package struct HTTPDate: Hashable {
    package let secondsSinceEpoch: Int64

    package static var now: HTTPDate { HTTPDate(secondsSinceEpoch: Int64(Date().timeIntervalSince1970)) }

    package init(secondsSinceEpoch: Int64) {
        self.secondsSinceEpoch = secondsSinceEpoch
    }

    /// Parses a date; nil for a text outside the grammar, and for a nonexistent day.
    ///
    /// The name of the day is not checked, because the date is complete without it.
    ///
    /// - Parameters:
    ///   - text: The text, without whitespace around it.
    ///   - ignoresCase: Whether letters are read in any case, as caches do (RFC 9111, section 4.2). The default is
    ///     false.
    ///   - now: The time that decides the century of a year with two digits. The default is the current one.
    package init?(_ text: String, ignoresCase: Bool = false, now: @autoclosure () -> HTTPDate = .now) {
        var text = text
        guard let fields = text.withUTF8({ HTTPDateFields($0, ignoresCase: ignoresCase) }) else { return nil }
        let year = fields.hasShortYear ? Self.fullYear(of: fields, now: now()) : fields.year
        guard CivilDate(year: year, month: fields.month, day: fields.day) != nil else { return nil }
        secondsSinceEpoch = fields.seconds(inYear: year)
    }

    /// The full year of a date with a two-digit year. A date more than 50 years in the future is taken for the latest
    /// past year with these digits.
    private static func fullYear(of fields: HTTPDateFields, now: HTTPDate) -> Int64 {
        let secondsOfYear: Int64 = 31_556_952
        let limit = now.secondsSinceEpoch + 50 * secondsOfYear
        var year = (1970 + limit / secondsOfYear) / 100 * 100 + 100 + fields.year
        while fields.seconds(inYear: year) > limit { year -= 100 }
        return year
    }

    package static let months: [Substring] = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]
}
