// Modules: Cache
import FoundationEssentials
import HTTPTypes
import LinnetCache

/// Uses the lines of the input as fields of a response and a request, and stores, uses, validates and combines the
/// response.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzCacheControl(_ data: UnsafePointer<UInt8>, _ count: Int) -> CInt {
    let lines = UnsafeBufferPointer(start: data, count: count).split(separator: 0x0A, omittingEmptySubsequences: false)
    func value(_ index: Int) -> [UInt8] { index < lines.count ? Array(lines[index]) : [] }
    guard let key = URL(string: "https://example.com/").flatMap({ CacheKey($0) }) else { return 0 }
    let responseNames: [HTTPField.Name] = [
        .cacheControl, .cacheControl, .vary, .eTag, .contentRange, .age, .expires, .date, .lastModified, .connection,
        .location,
    ]
    let requestNames: [HTTPField.Name] = [.cacheControl, .range, .ifNoneMatch, .ifModifiedSince, .ifRange]
    var head = HTTPResponse(status: count % 2 == 0 ? .ok : .partialContent)
    for (index, name) in responseNames.enumerated() where !value(index).isEmpty {
        head.headerFields.append(HTTPField(name: name, lenientValue: value(index)))
    }
    var request = HTTPRequest(method: .get, scheme: "https", authority: "example.com", path: "/")
    for (index, name) in requestNames.enumerated() where !value(index + 1).isEmpty {
        request.headerFields.append(HTTPField(name: name, lenientValue: value(index + 1)))
    }
    let start = Date(timeIntervalSince1970: 1_700_000_000)
    for isShared in [false, true] {
        let rules = CacheRules(isShared: isShared)
        _ = rules.invalidatedKeys(by: head, to: request, key: key)
        let entry = rules.entry(
            for: head, to: request, key: key, requestTime: start, responseTime: start.addingTimeInterval(1))
        guard var stored = entry else { continue }
        guard rules.refusal(of: head, to: request) == nil else { fatalError("A refused response has an entry.") }
        stored.bodySize = Int64(stored.part?.range.count ?? 100)
        for later in [0.0, 5, 100, 1e12] {
            check(rules, stored, request, now: start.addingTimeInterval(later))
        }
        _ = rules.combination(of: stored, head, with: stored)
    }
    return 0
}

private func check(_ rules: CacheRules, _ stored: StoredResponse, _ request: HTTPRequest, now: Date) {
    let freshness = rules.freshness(of: stored, at: now)
    guard freshness.age >= 0, freshness.lifetime >= 0 else { fatalError("A time is negative.") }
    for use in CacheUse.allCases {
        switch rules.decision(for: request, use: use, among: [stored], at: now) {
        case .answer(let answer, _):
            guard let body = answer.body else { continue }
            guard body.lowerBound >= 0, body.upperBound <= stored.bodySize else { fatalError("\(body)") }
            let isPart = answer.head.status == .partialContent
            guard isPart || stored.part == nil else { fatalError("An incomplete response answers as a whole.") }
        case .validate(let validation):
            let confirmation = HTTPResponse(status: .notModified, headerFields: stored.head.headerFields)
            _ = rules.outcome(
                of: confirmation, to: validation, for: request, use: use, among: [stored], requestTime: now,
                responseTime: now)
        case .bypass: fatalError("GET is bypassed.")
        case .load, .unsatisfiable: break
        }
    }
}
