import CommandSupport
import FoundationEssentials

/// A value with a member of every kind that a decoder treats in its own way.
struct Leaf: Codable, Equatable {
    enum Kind: String, Codable, CaseIterable { case seed, bud, bloom }

    var id: Int
    var smallCount: UInt8
    var wide: UInt64
    var fullName: String
    var ratio: Double
    var thinRatio: Float
    var isOpen: Bool
    var note: String?
    var createdAt: Date
    var rawBytes: Data
    var homePage: URL
    var price: Decimal
    var kind: Kind
}

/// A tree of leaves.
struct Branch: Codable, Equatable {
    var leaf: Leaf
    var leaves: [Leaf]
    var countsByName: [String: Int]
    var leafByName: [String: Leaf?]
    var textByNumber: [Int: String]
    var holes: [Int?]
    var rows: [[Double]]
    var names: [String]
    var flags: [Bool]
    var smalls: [Int16]
    var children: [Branch]
    var other: Leaf?
}

extension Leaf {
    static func random(_ dice: inout SplitMix) -> Leaf {
        Leaf(
            id: .random(in: .min ... .max, using: &dice), smallCount: .random(in: 0...255, using: &dice),
            wide: .random(in: 0 ... .max, using: &dice), fullName: RandomText.make(&dice),
            ratio: randomDouble(&dice), thinRatio: Float(.random(in: -1e6...1e6, using: &dice)),
            isOpen: .random(using: &dice), note: .random(using: &dice) ? RandomText.make(&dice) : nil,
            // Whole milliseconds survive every strategy that keeps them.
            createdAt: Date(timeIntervalSince1970: Double(Int.random(in: -100_000_000...4_000_000_000, using: &dice))),
            rawBytes: Data((0..<Int.random(in: 0...9, using: &dice)).map { _ in .random(in: 0...255, using: &dice) }),
            homePage: URL(string: "https://example.org/\(UInt16.random(in: 0 ... .max, using: &dice))?a=b#c")
                ?? URL(filePath: "/"),
            price: Decimal(Int.random(in: -1_000_000...1_000_000, using: &dice)) / 100,
            kind: Kind.allCases.randomElement(using: &dice) ?? .seed)
    }

    private static func randomDouble(_ dice: inout SplitMix) -> Double {
        switch Int.random(in: 0...3, using: &dice) {
        case 0: return Double(Int.random(in: -1000...1000, using: &dice)) / 100
        case 1: return .random(in: -1...1, using: &dice)
        case 2: return Double(Int.random(in: -(1 << 60)...(1 << 60), using: &dice))
        default:
            let value = Double(bitPattern: .random(in: 0 ... .max, using: &dice))
            return value.isFinite ? value : 0
        }
    }
}

extension Branch {
    static func random(depth: Int, _ dice: inout SplitMix) -> Branch {
        func count(_ most: Int = 3) -> Range<Int> { 0..<Int.random(in: 0...most, using: &dice) }
        var names: [String: Int] = [:]
        for _ in count(20) { names[RandomText.make(&dice)] = .random(in: -9...9, using: &dice) }
        var leafByName: [String: Leaf?] = [:]
        for _ in count() { leafByName[RandomText.make(&dice)] = .random(using: &dice) ? .some(nil) : .random(&dice) }
        var texts: [Int: String] = [:]
        for _ in count() { texts[.random(in: -99...99, using: &dice)] = RandomText.make(&dice) }
        return Branch(
            leaf: .random(&dice), leaves: count().map { _ in .random(&dice) }, countsByName: names,
            leafByName: leafByName, textByNumber: texts,
            holes: count().map { _ in .random(using: &dice) ? nil : .random(in: -9...9, using: &dice) },
            rows: count().map { _ in count().map { _ in .random(in: -1...1, using: &dice) } },
            names: count().map { _ in RandomText.make(&dice) }, flags: count().map { _ in .random(using: &dice) },
            smalls: count().map { _ in .random(in: .min ... .max, using: &dice) },
            children: depth == 0 ? [] : count(2).map { _ in random(depth: depth - 1, &dice) },
            other: .random(using: &dice) ? .random(&dice) : nil)
    }
}

/// A key of any name.
struct AnyName: CodingKey {
    let stringValue: String
    let intValue: Int?

    init(_ name: String) { (stringValue, intValue) = (name, Int(name)) }
    init?(stringValue: String) { self.init(stringValue) }
    init?(intValue: Int) { self.init(String(intValue)) }
}
