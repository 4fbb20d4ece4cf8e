// Sources: Modules/Session/Policies/HTTPResponse+RetryAfter.swift
import HTTPTypes

/// Takes the lines of the input as Retry-After and Date of a response. The wait equals the result of an implementation
/// that splits the texts by position, and counts days year by year.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzRetryAfter(_ data: UnsafePointer<UInt8>, _ count: Int) -> CInt {
    let lines = UnsafeBufferPointer(start: data, count: count).split(
        separator: 0x0A, maxSplits: 1, omittingEmptySubsequences: false)
    guard !lines.contains(where: { $0.contains { $0 < 0x20 || $0 > 0x7E } }) else { return 0 }
    let texts = lines.map { String(decoding: trimmed($0), as: UTF8.self) }
    var head = HTTPResponse(status: .serviceUnavailable)
    for (name, line) in zip([HTTPField.Name.retryAfter, .date], lines) {
        head.headerFields.append(HTTPField(name: name, lenientValue: line))
    }
    let (found, text) = (head.retryAfter, texts.first ?? "")
    if let found, found < .zero { fatalError("The wait is negative.") }
    if !text.isEmpty, text.utf8.allSatisfy({ 0x30...0x39 ~= $0 }) {
        guard let found, Int64(text).map({ found == .seconds($0) }) ?? (found > .seconds(1 << 30)) else {
            fatalError("The wait is another number of seconds.")
        }
        return 0
    }
    guard let moment = seconds(text) else {
        guard found == nil || isLong(text) else { fatalError("What is no date has a wait.") }
        return 0
    }
    guard let found else { fatalError("A date has no wait.") }
    // Without a date, the wait is from now.
    guard texts.count > 1, let sent = seconds(texts[1]), !isLong(texts[1]) else { return 0 }
    guard found == .seconds(max(0, moment - sent)) else { fatalError("The wait is \(found).") }
    return 0
}

private func trimmed(_ bytes: some Collection<UInt8>) -> [UInt8] {
    let start = bytes.drop { $0 == 0x20 }
    return Array(Array(start).reversed().drop { $0 == 0x20 }.reversed())
}

extension String {
    /// A copy of the module's function, because its file has other dependencies.
    var trimmingOptionalWhitespace: String { String(decoding: trimmed(utf8), as: UTF8.self) }
}

/// The form with a two-digit year. Its century depends on the clock.
private func isLong(_ text: String) -> Bool {
    (text.split(separator: ",").first?.utf8.count ?? 0) > 3 && text.contains("day, ")
}

private let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
private let days = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"]

/// The seconds of a date with a whole year.
private func seconds(_ text: String) -> Int64? {
    let (bytes, isFixed) = (Array(text.utf8), text.utf8.count == 29)
    func part(_ places: Range<Int>) -> String { String(decoding: bytes[places], as: UTF8.self) }
    func number(_ places: Range<Int>) -> Int64? {
        bytes[places].allSatisfy { 0x30...0x39 ~= $0 } ? Int64(part(places)) : nil
    }
    guard isFixed || bytes.count == 24, days.contains(part(0..<3)) else { return nil }
    // Sun, 06 Nov 1994 08:49:37 GMT and Sun Nov  6 08:49:37 1994
    let (day, month, year, time) = isFixed ? (5, 8, 12, 17) : (8, 4, 20, 11)
    let (blanks, marks) =
        isFixed ? ([4, 7, 11, 16, 25], [3: ",", 19: ":", 22: ":"]) : ([3, 7, 10, 19], [13: ":", 16: ":"])
    guard blanks.allSatisfy({ bytes[$0] == 0x20 }), marks.allSatisfy({ part($0..<$0 + 1) == $1 }),
        !isFixed || part(26..<29) == "GMT", let month = months.firstIndex(of: part(month..<month + 3)),
        let day = !isFixed && bytes[day] == 0x20 ? number(day + 1..<day + 2) : number(day..<day + 2),
        let year = number(year..<year + 4), let hour = number(time..<time + 2),
        let minute = number(time + 3..<time + 5),
        let second = number(time + 6..<time + 8), hour < 24, minute < 60,
        second < 60 || (hour, minute, second) == (23, 59, 60),
        (1...length(of: month, in: year)).contains(day)
    else { return nil }
    var count = day - 1
    for month in 0..<month { count += length(of: month, in: year) }
    for year in min(1970, year)..<max(1970, year) { count += year < 1970 ? 0 : length(of: year) }
    if year < 1970 { for year in year..<1970 { count -= length(of: year) } }
    return ((count * 24 + hour) * 60 + minute) * 60 + second
}

private func length(of year: Int64) -> Int64 { isLeap(year) ? 366 : 365 }

private func length(of month: Int, in year: Int64) -> Int64 {
    month == 1 ? (isLeap(year) ? 29 : 28) : [3, 5, 8, 10].contains(month) ? 30 : 31
}

private func isLeap(_ year: Int64) -> Bool { year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) }
