internal import Foundation  // JSONSerialization, PropertyListSerialization
internal import HTTPTypes
internal import LinnetMessages
internal import LinnetSerialization

/// The archived properties of a request serializer.
struct ArchivedRequestSerializer: Codable {
    /// The names and values of the header fields, in order, without credentials.
    private let headerFields: [[String]]
    private let options: RequestOptions
    private let methodsInURL: [String]
    private let stringEncoding: UInt
    private let pipelines: Bool
    private let networkServiceType: UInt
    private let writingOptions: UInt
    private let format: UInt
    private let writeOptions: Int

    init(_ state: AFHTTPRequestSerializer.State) {
        let secrets = Set(Redaction.standard.credentialNames)
        headerFields = state.settings.headerFields.filter { !secrets.contains($0.name) }.map {
            [$0.name.rawName, $0.value]
        }
        options = state.settings.requestOptions
        methodsInURL = state.settings.methodsEncodingParametersInURL.map(\.rawValue).sorted()
        stringEncoding = state.stringEncoding
        pipelines = state.pipelines
        networkServiceType = state.networkServiceType.rawValue
        writingOptions = state.writingOptions.rawValue
        format = state.format.rawValue
        writeOptions = Int(state.writeOptions)
    }

    /// The state of the serializer.
    var state: AFHTTPRequestSerializer.State {
        var state = AFHTTPRequestSerializer.State()
        state.settings.headerFields = [:]
        for field in headerFields where field.count == 2 {
            try? state.settings.headerFields.set(field[1], forName: field[0])
        }
        state.settings.requestOptions = options
        state.settings.methodsEncodingParametersInURL = Set(methodsInURL.compactMap { HTTPRequest.Method($0) })
        state.stringEncoding = stringEncoding
        state.pipelines = pipelines
        state.networkServiceType = URLRequest.NetworkServiceType(rawValue: networkServiceType) ?? .default
        state.writingOptions = JSONSerialization.WritingOptions(rawValue: writingOptions)
        state.format = PropertyListSerialization.PropertyListFormat(rawValue: format) ?? .xml
        state.writeOptions = PropertyListSerialization.WriteOptions(writeOptions)
        return state
    }
}
