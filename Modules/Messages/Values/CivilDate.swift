/// A day of the Gregorian calendar, which is extended to all years.
///
/// Years begin with March in the calculations, so that a leap day is the last one. 400 years have 146,097 days, and
/// each five months from March on have 153.
package struct CivilDate: Hashable, Sendable {
    package let year: Int64
    /// From 1 to 12.
    package let month: Int64
    /// From 1.
    package let day: Int64

    /// Creates a date; nil for a day that does not exist.
    package init?(year: Int64, month: Int64, day: Int64) {
        guard 1...12 ~= month, day >= 1, day <= Self.days(inMonth: month, ofYear: year) else { return nil }
        (self.year, self.month, self.day) = (year, month, day)
    }

    /// Creates the date of a number of days since 1970-01-01.
    package init(daysSinceEpoch days: Int64) {
        let shifted = days + 719_468
        let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shiftedMonth = (5 * dayOfYear + 2) / 153
        month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
        day = dayOfYear - (153 * shiftedMonth + 2) / 5 + 1
        year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
    }

    /// The number of days since 1970-01-01.
    package var daysSinceEpoch: Int64 { Self.daysSinceEpoch(year: year, month: month, day: day) }

    /// The number of days since 1970-01-01. A day beyond the end of its month is one of the next month.
    package static func daysSinceEpoch(year: Int64, month: Int64, day: Int64) -> Int64 {
        let year = month <= 2 ? year - 1 : year
        let era = (year >= 0 ? year : year - 399) / 400
        let yearOfEra = year - era * 400
        let dayOfYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    }

    private static func days(inMonth month: Int64, ofYear year: Int64) -> Int64 {
        switch month {
        case 4, 6, 9, 11: 30
        case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
        default: 31
        }
    }
}
