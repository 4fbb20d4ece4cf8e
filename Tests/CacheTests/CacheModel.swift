import FoundationEssentials

/// The rules of RFC 9111 once more, slowly and plainly, for messages with at most one field of a name: whole seconds,
/// lists of words, and no structure shared with the module.
struct CacheModel {
    typealias Line = (String, String)

    private struct Memory {
        let url: String
        let request: [Line]
        let response: [Line]
        let status: Int
        let sent: Int
        let received: Int
        let number: Int
    }

    private let isShared: Bool
    private var memories: [Memory] = []
    private var count = 0

    init(isShared: Bool) { self.isShared = isShared }

    /// An instant as HTTP writes it, on a day that the histories do not leave.
    static func text(_ seconds: Int) -> String {
        let clock = 22 * 3600 + 13 * 60 + 20 + seconds
        let parts = [clock / 3600, clock / 60 % 60, clock % 60].map { $0 < 10 ? "0\($0)" : "\($0)" }
        return "Tue, 14 Nov 2023 \(parts[0]):\(parts[1]):\(parts[2]) GMT"
    }

    private static func seconds(_ text: String) -> Int? {
        let clock = text.split(separator: " ").dropFirst(4).first.map {
            $0.split(separator: ":").compactMap { Int($0) }
        }
        guard let clock, clock.count == 3 else { return nil }
        return clock[0] * 3600 + clock[1] * 60 + clock[2] - (22 * 3600 + 13 * 60 + 20)
    }

    private func value(_ name: String, _ lines: [Line]) -> String? { lines.first { $0.0 == name }?.1 }

    private func words(_ lines: [Line]) -> [String] {
        (value("Cache-Control", lines) ?? "").split(separator: ",").map { String($0.drop { $0 == " " }) }
    }

    /// The number after a directive; 0 if it is invalid; nil without the directive.
    private func number(_ name: String, _ words: [String]) -> Int? {
        words.first { $0 == name || $0.hasPrefix(name + "=") }.map { Int($0.dropFirst(name.count + 1)) ?? 0 }
    }

    // MARK: Section 3

    /// Whether the response is stored. Replaced responses are forgotten.
    mutating func receive(
        url: String, _ request: [Line], _ response: [Line], status: Int, sent: Int, received: Int
    ) -> Bool {
        let proves = [200, 302, 404].contains(status)
        let isStored = mayStore(request, response, status: status)
        let others = memories.filter { memory in
            guard memory.url == url else { return true }
            if proves, matches(memory, request) { return false }
            let hasSameVariant =
                names(memory.response) == names(response)
                && names(response).allSatisfy { value($0, memory.request) == value($0, request) }
            return !(isStored && hasSameVariant)
        }
        memories = others
        if isStored {
            count += 1
            memories.append(
                Memory(
                    url: url, request: request, response: response, status: status, sent: sent, received: received,
                    number: count))
        }
        return isStored
    }

    private func mayStore(_ request: [Line], _ response: [Line], status: Int) -> Bool {
        let directives = words(response)
        if directives.contains("no-store") || words(request).contains("no-store") { return false }
        if isShared, directives.contains("private") { return false }
        if isShared, value("Authorization", request) != nil {
            let allowed = ["must-revalidate", "public"].contains { directives.contains($0) }
            if !allowed, number("s-maxage", directives) == nil { return false }
        }
        if value("Vary", response) == "*" { return false }
        if status == 200 || status == 404 || directives.contains("public") { return true }
        if number("max-age", directives) != nil || value("Expires", response) != nil { return true }
        return isShared ? number("s-maxage", directives) != nil : directives.contains("private")
    }

    // MARK: Section 4

    private func names(_ response: [Line]) -> [String] {
        value("Vary", response).map { $0.split(separator: ",").map { String($0.drop { $0 == " " }) } } ?? []
    }

    private func matches(_ memory: Memory, _ request: [Line]) -> Bool {
        names(memory.response).allSatisfy { value($0, memory.request) == value($0, request) }
    }

    func decide(url: String, _ request: [Line], at now: Int) -> String {
        let decision = decideFreely(url: url, request, at: now)
        guard words(request).contains("only-if-cached") else { return decision }
        if decision == "stale, validating" { return "stale" }
        return decision == "hit" || decision == "stale" ? decision : "unsatisfiable"
    }

    private func decideFreely(url: String, _ request: [Line], at now: Int) -> String {
        let known = memories.filter { $0.url == url }
        let matching = known.filter { matches($0, request) }
        let varied = matching.filter { !names($0.response).isEmpty }
        let chosen = (varied.isEmpty ? matching : varied).max { left, right in
            let dates = [left, right].map { Self.seconds(value("Date", $0.response) ?? "") ?? 0 }
            return dates[0] == dates[1] ? left.number < right.number : dates[0] < dates[1]
        }
        guard let chosen else {
            return known.contains { $0.status == 200 && value("ETag", $0.response) != nil } ? "validate" : "load"
        }
        let word = reuse(chosen, words(request), at: now)
        guard word == "no" else { return word }
        let others = known.filter { $0.status == 200 && value("ETag", $0.response) != nil }
        let hasDate = chosen.status == 200 && value("Last-Modified", chosen.response) != nil
        return others.isEmpty && !hasDate ? "load" : "validate"
    }

    /// `hit`, `stale`, `stale, validating`, or `no`.
    private func reuse(_ memory: Memory, _ request: [String], at now: Int) -> String {
        let directives = words(memory.response)
        let age = age(memory, at: now)
        let lifetime = lifetime(memory)
        if request.contains("no-cache") || directives.contains("no-cache") { return "no" }
        let isFresh = age < lifetime
        let mayBeStale =
            !directives.contains("must-revalidate")
            && !(isShared && (directives.contains("proxy-revalidate") || number("s-maxage", directives) != nil))
        // The greatest excess that the client accepts, and how far the age is beyond each limit.
        let maxStale = request.contains("max-stale") ? Int.max : number("max-stale", request)
        var excess = age + (number("min-fresh", request) ?? 0) - lifetime
        var isTooOld = false
        if let limit = number("max-age", request), !(isFresh && directives.contains("immutable")) {
            isTooOld = age > limit
            excess = max(excess, age - limit)
        }
        let isTooShort = number("min-fresh", request).map { age + $0 > lifetime } ?? false
        if isFresh, !isTooOld, !isTooShort { return "hit" }
        if !isFresh, !mayBeStale { return "no" }
        if let maxStale { return excess <= maxStale ? (isFresh ? "hit" : "stale") : "no" }
        let isLimited = number("max-age", request) != nil || number("min-fresh", request) != nil
        if !isFresh, !isLimited, let limit = number("stale-while-revalidate", directives), age - lifetime <= limit {
            return "stale, validating"
        }
        return "no"
    }

    private func lifetime(_ memory: Memory) -> Int {
        let directives = words(memory.response)
        if isShared, let seconds = number("s-maxage", directives) { return seconds }
        if let seconds = number("max-age", directives) { return seconds }
        let date = Self.seconds(value("Date", memory.response) ?? "") ?? memory.received
        if let expires = value("Expires", memory.response) {
            return max(0, (Self.seconds(expires) ?? -1_000_000) - date)
        }
        guard let modified = value("Last-Modified", memory.response).flatMap({ Self.seconds($0) }),
            memory.status == 200 || memory.status == 404 || directives.contains("public")
        else { return 0 }
        return max(0, date - modified) / 10
    }

    /// Counted second by second.
    private func age(_ memory: Memory, at now: Int) -> Int {
        let date = Self.seconds(value("Date", memory.response) ?? "") ?? memory.received
        var age = max(memory.received - date, (value("Age", memory.response).flatMap { Int($0) } ?? 0))
        age = max(age, (value("Age", memory.response).flatMap { Int($0) } ?? 0) + memory.received - memory.sent)
        var second = memory.received
        while second < now {
            second += 1
            age += 1
        }
        return age
    }
}
