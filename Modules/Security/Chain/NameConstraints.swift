/// Which names an authority may certify, and which not (RFC 5280, 4.2.1.10).
struct NameConstraints: Sendable {
    let permitted: [NameSubtree]
    let excluded: [NameSubtree]
    /// Whether each part has the form that is defined for it. Parts that have another are compared all the same, to the
    /// disadvantage of the name.
    let isProper: Bool
    /// The forms of names that it says anything of.
    let forms: Set<ConstrainedName.Form>

    /// How many subtrees there are.
    var subtrees: Int { permitted.count + excluded.count }

    init(_ der: DER) throws(DERError) {
        let list = try der.root(DER.Tag.sequence)
        var cursor = der.cursor(list)
        var isProper = !list.content.isEmpty && der.isStrict(list)
        permitted = try Self.subtrees(der, cursor.optional(DER.Tag.context(0, constructed: true)), &isProper)
        excluded = try Self.subtrees(der, cursor.optional(DER.Tag.context(1, constructed: true)), &isProper)
        try cursor.end()
        forms = Set((permitted + excluded).map(\.form))
        self.isProper = isProper
    }

    private static func subtrees(
        _ der: DER, _ list: DER.Element?, _ isProper: inout Bool
    ) throws(DERError) -> [NameSubtree] {
        guard let list else { return [] }
        let bases = try der.children(list)
        if bases.isEmpty { isProper = false }
        var subtrees: [NameSubtree] = []
        for base in bases {
            var subtree = der.cursor(base)
            let name = GeneralName(der, try subtree.next())
            // `minimum` is 0, which DER does not write, and `maximum` is absent.
            try subtree.end()
            if !name.isConstraint { isProper = false }
            subtrees.append(try NameSubtree(name))
        }
        return subtrees
    }

    /// Whether a name is one that the authority may certify.
    func admits(_ name: ConstrainedName) -> Bool {
        guard !excluded.contains(where: { $0.touches(name) }) else { return false }
        let ofItsForm = permitted.filter { $0.form == name.form }
        return ofItsForm.isEmpty || ofItsForm.contains { $0.covers(name) }
    }
}
