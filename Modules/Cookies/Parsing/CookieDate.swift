internal import FoundationEssentials
internal import LinnetMessages

/// The date of an Expires attribute (RFC 6265bis, section 5.1.1).
///
/// The algorithm accepts more than the formats of HTTP, since servers send more: any order, any delimiters, no time
/// zone.
struct CookieDate {
    private var time: (hour: Int64, minute: Int64, second: Int64)?
    private var day: Int64?
    private var month: Int64?
    private var year: Int64?

    /// Parses a cookie-date; nil if the algorithm fails.
    static func parse(_ bytes: ArraySlice<UInt8>) -> Date? {
        var date = CookieDate()
        for token in bytes.split(whereSeparator: isDelimiter) { date.read(DateToken(token)) }
        return date.value
    }

    /// Step 2: each token is tried as a time, a day, a month and a year, in this order, skipping the fields found
    /// already.
    private mutating func read(_ token: DateToken) {
        if time == nil, let found = token.time {
            time = found
        } else if day == nil, let found = token.number(ofDigits: 1...2) {
            day = found
        } else if month == nil, let found = token.month {
            month = found
        } else if year == nil, let found = token.number(ofDigits: 2...4) {
            year = found
        }
    }

    /// The date after steps 3 to 6; nil if a field is missing or out of range.
    private var value: Date? {
        guard let time, let day, let month, var year else { return nil }
        if 70...99 ~= year { year += 1900 }
        if 0...69 ~= year { year += 2000 }
        guard year >= 1601, time.hour <= 23, time.minute <= 59, time.second <= 59,
            let date = CivilDate(year: year, month: month, day: day)
        else { return nil }
        let seconds = ((date.daysSinceEpoch * 24 + time.hour) * 60 + time.minute) * 60 + time.second
        return Date(timeIntervalSince1970: Double(seconds))
    }

    /// `delimiter`: %x09 / %x20-2F / %x3B-40 / %x5B-60 / %x7B-7E.
    private static func isDelimiter(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x09, 0x20...0x2F, 0x3B...0x40, 0x5B...0x60, 0x7B...0x7E: true
        default: false
        }
    }
}

/// A `date-token`.
private struct DateToken {
    private let bytes: ArraySlice<UInt8>

    init(_ bytes: ArraySlice<UInt8>) { self.bytes = bytes }

    /// `time`: three fields of one or two digits with colons between them, not followed by a digit.
    var time: (hour: Int64, minute: Int64, second: Int64)? {
        var rest = bytes
        var fields: [Int64] = []
        while let field = Self.number(takenFrom: &rest, digits: 1...2) {
            fields.append(field)
            if fields.count == 3 { return (fields[0], fields[1], fields[2]) }
            guard rest.popFirst() == UInt8(ascii: ":") else { return nil }
        }
        return nil
    }

    /// `month`: the first three letters of its name, followed by anything.
    var month: Int64? {
        guard bytes.count >= 3 else { return nil }
        let letters = bytes.prefix(3).map(ASCII.lowercase)
        return Self.months.firstIndex(of: letters).map { Int64($0) + 1 }
    }

    /// `day-of-month` and `year`: a number of so many digits, not followed by a digit.
    func number(ofDigits digits: ClosedRange<Int>) -> Int64? {
        var rest = bytes
        return Self.number(takenFrom: &rest, digits: digits)
    }

    private static let months = [
        "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec",
    ].map { Array($0.utf8) }

    private static func number(takenFrom rest: inout ArraySlice<UInt8>, digits: ClosedRange<Int>) -> Int64? {
        let found = rest.prefix(digits.upperBound + 1).prefix(while: \.isDigit)
        guard digits.contains(found.count) else { return nil }
        rest = rest.dropFirst(found.count)
        return found.reduce(0) { $0 * 10 + Int64($1 - 0x30) }
    }
}
