/// Which patterns of a file no host can come to.
struct PatternReach {
    private let readers: [PolicyRuleReader]
    /// The patterns of each rule; nil where there is none.
    private let patterns: [[HostPattern?]]

    init(_ readers: [PolicyRuleReader]) {
        self.readers = readers
        patterns = readers.map { reader in reader.rule.hosts.indices.map { try? reader.pattern($0) } }
    }

    /// What is found of one rule.
    func findings(_ rule: Int) -> [PolicyFinding] {
        patterns[rule].enumerated().compactMap { host, pattern in
            guard let pattern else { return nil }
            if let other = earlier(rule, host, pattern) {
                return readers[rule].finding(
                    .unreachableRule, .error, "hosts[\(host)]", "\"\(pattern)\" stands in \(other) already.")
            }
            guard case .range(let range) = pattern.form, isCovered(range, by: narrower(range)) else { return nil }
            return readers[rule].finding(
                .unreachableRule, .warning, "hosts[\(host)]", "Other rules have all addresses of \"\(pattern)\".")
        }
    }

    /// Where the same pattern stood before.
    private func earlier(_ rule: Int, _ host: Int, _ pattern: HostPattern) -> String? {
        for index in 0...rule {
            let before = index == rule ? patterns[index].prefix(host) : patterns[index][...]
            guard let found = before.firstIndex(of: pattern) else { continue }
            let file = readers[index].file == readers[rule].file ? "" : (readers[index].file?.oneLine ?? "") + ": "
            return file + readers[index].path + ".hosts[\(found)]"
        }
        return nil
    }

    private func narrower(_ range: AddressRange) -> [AddressRange] {
        patterns.joined().compactMap { pattern in
            switch pattern?.form {
            case .range(let other) where other != range && range.contains(other): other
            case .exact(.address(let bytes)):
                AddressRange(bytes, prefixLength: bytes.count * 8).flatMap { range.contains($0) ? $0 : nil }
            default: nil
            }
        }
    }

    /// Halves a range until a narrower one has the half, or none has any of it: no more steps than the ranges have bits.
    private func isCovered(_ range: AddressRange, by ranges: [AddressRange]) -> Bool {
        if ranges.contains(where: { $0.contains(range) }) { return true }
        let within = ranges.filter { range.contains($0) }
        guard !within.isEmpty, let (low, high) = range.halves else { return false }
        return isCovered(low, by: within) && isCovered(high, by: within)
    }
}
