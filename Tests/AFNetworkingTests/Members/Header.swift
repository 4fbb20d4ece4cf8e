import Foundation

/// A public header of AFNetworking 4.0.1, member by member. The code of a row compiles; it is not run.
struct Header: Sendable {
    /// How a member is here.
    enum Kind: Sendable, Equatable {
        case same
        /// The same name and labels, with another type: Foundation's or UIKit's own does not exist on Linux.
        case differs
        /// Not here; the document says why.
        case leftOut
    }

    struct Member: Sendable {
        let name: String
        let kind: Kind
    }

    /// The name of the header, without its suffix.
    let name: String
    /// Whether it extends a class of UIKit that draws.
    let isDrawing: Bool
    private(set) var members: [Member] = []

    init(_ name: String, isDrawing: Bool = false) { (self.name, self.isDrawing) = (name, isDrawing) }

    /// A member with the same name, labels and type.
    mutating func same<Subject>(_ name: String, _ use: (Subject) throws -> Void) {
        members.append(Member(name: name, kind: .same))
    }

    /// A constant, a function or an initializer with the same name, labels and type.
    mutating func same(_ name: String, _ use: () throws -> Void) {
        members.append(Member(name: name, kind: .same))
    }

    /// A member with the same name and labels, and another type.
    mutating func differs<Subject>(_ name: String, _ use: (Subject) async throws -> Void) {
        members.append(Member(name: name, kind: .differs))
    }

    /// A constant, a function or an initializer with the same name and labels, and another type.
    mutating func differs(_ name: String, _ use: () throws -> Void) {
        members.append(Member(name: name, kind: .differs))
    }

    /// A member that is not here.
    mutating func leftOut(_ names: String...) {
        members += names.map { Member(name: $0, kind: .leftOut) }
    }

    func count(_ kind: Kind) -> Int { members.count { $0.kind == kind } }
}
