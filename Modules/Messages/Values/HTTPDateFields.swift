/// The parts of a text in one of the three grammars of a date (RFC 9110, section 5.6.7).
struct HTTPDateFields {
    /// The day, from 1 to 31. The month may have fewer days.
    private(set) var day: Int64 = 0
    /// The month, from 1 to 12.
    private(set) var month: Int64 = 0
    private(set) var year: Int64 = 0
    /// Whether the year has two digits.
    private(set) var hasShortYear = false
    /// The seconds since midnight.
    private var time: Int64 = 0

    private static let days: [Substring] = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"]
    private static let longDays: [Substring] = [
        "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday",
    ]

    /// Fails if the text is in none of the grammars.
    init?(_ bytes: UnsafeBufferPointer<UInt8>, ignoresCase: Bool) {
        var scanner = Scanner(rest: bytes[...], ignoresCase: ignoresCase)
        // Long names come first, because each begins with a short one.
        let isLong = scanner.index(in: Self.longDays) != nil
        guard isLong || scanner.index(in: Self.days) != nil else { return nil }
        let isRead =
            if isLong { readLong(&scanner) } else if scanner.takes(", ") { readFixed(&scanner) } else {
                readAsctime(&scanner)
            }
        guard isRead, scanner.rest.isEmpty, 1...31 ~= day else { return nil }
    }

    func seconds(inYear year: Int64) -> Int64 {
        CivilDate.daysSinceEpoch(year: year, month: month, day: day) * 86_400 + time
    }

    /// `IMF-fixdate`: `Sun, 06 Nov 1994 08:49:37 GMT`, after the comma.
    private mutating func readFixed(_ scanner: inout Scanner) -> Bool {
        guard let day = scanner.number(ofDigits: 2), scanner.takes(" "), readMonth(&scanner), scanner.takes(" "),
            let year = scanner.number(ofDigits: 4), scanner.takes(" ")
        else { return false }
        (self.day, self.year) = (day, year)
        return readTime(&scanner) && scanner.takes(" GMT")
    }

    /// `rfc850-date`: `Sunday, 06-Nov-94 08:49:37 GMT`, after the name of the day.
    private mutating func readLong(_ scanner: inout Scanner) -> Bool {
        guard scanner.takes(", "), let day = scanner.number(ofDigits: 2), scanner.takes("-"), readMonth(&scanner),
            scanner.takes("-"), let year = scanner.number(ofDigits: 2), scanner.takes(" ")
        else { return false }
        (self.day, self.year, hasShortYear) = (day, year, true)
        return readTime(&scanner) && scanner.takes(" GMT")
    }

    /// `asctime-date`: `Sun Nov  6 08:49:37 1994`, after the name of the day.
    private mutating func readAsctime(_ scanner: inout Scanner) -> Bool {
        guard scanner.takes(" "), readMonth(&scanner), scanner.takes(" "),
            let day = scanner.takes(" ") ? scanner.number(ofDigits: 1) : scanner.number(ofDigits: 2),
            scanner.takes(" "),
            readTime(&scanner), scanner.takes(" "), let year = scanner.number(ofDigits: 4)
        else { return false }
        (self.day, self.year) = (day, year)
        return true
    }

    private mutating func readMonth(_ scanner: inout Scanner) -> Bool {
        guard let index = scanner.index(in: HTTPDate.months) else { return false }
        month = Int64(index) + 1
        return true
    }

    /// `time-of-day`, from `00:00:00` to the leap second `23:59:60`.
    private mutating func readTime(_ scanner: inout Scanner) -> Bool {
        guard let hour = scanner.number(ofDigits: 2), scanner.takes(":"), let minute = scanner.number(ofDigits: 2),
            scanner.takes(":"), let second = scanner.number(ofDigits: 2), hour <= 23, minute <= 59,
            second <= 59 || (hour, minute, second) == (23, 59, 60)
        else { return false }
        time = (hour * 60 + minute) * 60 + second
        return true
    }
}

/// Reads bytes from the beginning of a text. A failed read consumes nothing.
private struct Scanner {
    private(set) var rest: Slice<UnsafeBufferPointer<UInt8>>
    let ignoresCase: Bool

    init(rest: Slice<UnsafeBufferPointer<UInt8>>, ignoresCase: Bool) {
        (self.rest, self.ignoresCase) = (rest, ignoresCase)
    }

    mutating func takes(_ text: Substring) -> Bool {
        let found = rest.prefix(text.utf8.count)
        guard found.count == text.utf8.count, zip(found, text.utf8).allSatisfy(isEqual) else { return false }
        rest = rest.dropFirst(found.count)
        return true
    }

    /// The index of the first listed name that comes next.
    mutating func index(in names: [Substring]) -> Int? {
        for (index, name) in names.enumerated() where takes(name) { return index }
        return nil
    }

    mutating func number(ofDigits count: Int) -> Int64? {
        let digits = rest.prefix(count)
        guard digits.count == count, let number = Digits.parse(digits) else { return nil }
        rest = rest.dropFirst(count)
        return number
    }

    private func isEqual(_ left: UInt8, _ right: UInt8) -> Bool {
        left == right || ignoresCase && ASCII.lowercase(left) == ASCII.lowercase(right)
    }
}
