import LinnetSecurity
import LinnetTesting

extension ChainCases {
    /// A chain with these path length constraints of its root and authorities; nil for none.
    private static func path(
        _ root: UInt8?, _ authorities: [UInt8?], _ verdicts: ChainCase.Verdicts, depth: Int = 10
    ) -> ChainCase {
        let lengths = ([root] + authorities).map { $0.map { "\($0)" } ?? "any" }.joined(separator: ", ")
        let limit = depth == 10 ? "" : ", at most \(depth)"
        return ChainCase("lengths " + lengths + limit, "4.2.1.9 and 6.1.4 (l)", verdicts) { draft in
            draft.maximumDepth = depth
            if let root { draft.root.pathLength(root) }
            draft.authorities = authorities.enumerated().map { index, length in
                var authority = CertificateTemplate.authority("Authority \(index)")
                if let length { authority.pathLength(length) }
                return authority
            }
        }
    }

    /// Path length constraints.
    static let pathLengths: [ChainCase] =
        [
            path(nil, [], .accepted), path(0, [], .accepted), path(0, [nil], .refused(.chainInvalid)),
            path(1, [nil], .accepted), path(1, [0], .accepted), path(1, [nil, nil], .refused(.chainInvalid)),
            path(2, [nil, nil], .accepted), path(2, [1, 0], .accepted), path(2, [0, nil], .refused(.chainInvalid)),
            path(1, [5], .accepted), path(3, [1, nil, nil], .refused(.chainInvalid)),
            path(3, [2, 1, 0], .accepted), path(3, [2, 0, 0], .refused(.chainInvalid)),
            path(2, [nil, nil, nil], .refused(.chainInvalid)), path(127, [127], .accepted),
            path(nil, Array(repeating: nil, count: 10), .accepted),
            path(nil, Array(repeating: nil, count: 11), .refused(.chainInvalid)),
            path(nil, [], .accepted, depth: 0), path(nil, [nil], .refused(.chainInvalid), depth: 0),
            path(nil, [nil], .accepted, depth: 1), path(nil, [nil, nil], .refused(.chainInvalid), depth: 1),
            path(nil, [nil, nil], .accepted, depth: 2), path(nil, [nil, nil, nil], .refused(.chainInvalid), depth: 2),
        ] + forms

    private static let forms = [
        ChainCase("an authority of the issuer's own name does not count", "6.1.4 (l)", .accepted) {
            $0.authority.pathLength(0)
            $0.authorities.append(.authority("Authority"))
        },
        ChainCase("a length in a server's certificate", "4.2.1.9", .byRule(.pathLengthWithoutAuthority)) {
            $0.leaf.set("2.5.29.19", ASN1.sequence(ASN1.integer(0)))
        },
        ChainCase("a length in several octets", "4.2.1.9", .accepted) { $0.authority.pathLength(1, 0, 0) },
        ChainCase("a negative length", "4.2.1.9", .refused(.unknownAuthority)) {
            $0.authority.pathLength(0xFF)
        },
    ]
}
