/*
 * Queries of the kinds that people type, for one small set of memories. The table is plain data, so
 * that tests can run it against both the search core and a server.
 */

/** One user's memories by name, oldest first. */
export const corpus: { [name: string]: string } = {
  studio: 'Nora: I signed the lease for a ceramics studio last Tuesday!',
  where: 'Theo: No way! Where is it?',
  harbor: 'Nora: In the old cannery by the harbor, with good light in the mornings.',
  labrador: 'Theo: My Labrador Juno would love to visit you there.',
  marathon: 'Theo: I ran the half marathon in Leeds in two hours and six minutes.',
  bought: 'Nora: I bought a second-hand van from a beekeeper in May.',
  children: 'Theo: My sister has two children, they turned four in December.',
  film: 'Nora: We watched a film about lighthouse keepers on Friday.',
  peanuts: 'User cannot eat peanuts, she once ended up in hospital.',
  dark: 'Prefers dark mode and short answers.',
  oslo: 'Moved to Oslo in March 2024.',
  coffee: 'The best café in Zürich is on Bahnhofstraße.',
  resume: 'Her résumé lists a naïve Bayes project and a stay in São Paulo.',
  error: 'The import fails with ERR-4711 since the update.',
  error2: 'The export fails with ERR-4712 when the disk is full.',
  version: 'Upgraded the gateway to v2.3.1 on Monday.',
  version2: 'The gateway stays on v2.4.0 in staging.',
  phone: 'The restaurant Sino can be reached at 408-247-8880.',
  phone2: 'The florist can be reached at 408-555-0199.',
  mail: 'Invoices go to billing+eu@example.com, not to the sales team.',
  url: 'The handbook is at https://docs.example.com/guides/on-boarding?step=3 for everybody.',
  order: 'Order 10023844 was shipped to the warehouse in Gdańsk.',
  money: 'The savings account holds $21,801.28 at the moment.',
  flight: 'Flight BA117 leaves from gate B42 at 11:30.',
  uuid: 'Session 7f3c9a20-41de-4b8e-9d77-0c2f5e1ab345 was closed by the client.',
  song: 'Her favourite song is To Be or Not, by the Whistling Kettles.',
  king: 'The king of Spain opened the railway museum.',
  museum: 'The museum of the railway king is closed, said a man from Spain.',
  code: 'Call user_profile.refresh() before renderTable(rows, 25).',
  language: 'He writes C++ and Rust at work.',
  chinese: '我喜欢在北京的咖啡馆喝咖啡。',
  chinese2: '上海的天气很热。',
  japanese: '私は東京タワーの近くに住んでいます。',
  japanese2: '大阪でラーメンを食べました。',
  thai: 'ฉันชอบกินข้าวผัดกุ้งที่กรุงเทพ',
  thai2: 'พรุ่งนี้ฝนจะตกที่เชียงใหม่',
  korean: '저는 부산에서 커피를 마셨어요.',
  russian: 'Моя сестра купила новую книгу о ёлках.',
  greek: 'Ο αδελφός μου μένει στην Αθήνα.',
  arabic: 'أختي تسكن في القاهرة منذ سنتين.',
  hebrew: 'אחי גר בירושלים ליד השוק.',
  hindi: 'मेरी बहन दिल्ली में रहती है।',
  emoji: 'Deploy went fine 🚀 thanks everybody',
  flag: 'She supports 🇵🇹 in every match',
  basil: 'Keeps one basil plant on the balcony.',
  tea1: 'Likes green tea in the morning.',
  tea2: 'Likes green tea in the morning.',
};

/**
 * `first` must be the first result, and all of `among` must be in the first three. With `none`, the
 * query must have no results. The snippet of the first result must contain `mark`, in which « and »
 * enclose a highlight.
 */
export type Case = {
  kind: string;
  query: string;
  first?: string;
  among?: string[];
  none?: true;
  mark?: string;
};

const question: Case[] = [
  { kind: 'question', query: 'When did Nora sign the lease for her studio?', first: 'studio' },
  { kind: 'question', query: "Where is Nora's ceramics studio?", among: ['studio', 'harbor'] },
  { kind: 'question', query: 'What breed is the dog of Theo?', among: ['labrador'] },
  { kind: 'question', query: 'How fast did Theo run the marathon?', first: 'marathon' },
  { kind: 'question', query: 'What did Nora buy from the beekeeper?', first: 'bought' },
  { kind: 'question', query: "How old are the kids of Theo's sister?", first: 'children' },
  { kind: 'question', query: 'Which movie did Nora watch?', first: 'film', mark: '«film»' },
  { kind: 'question', query: 'What can the user not eat?', first: 'peanuts' },
  { kind: 'question', query: 'which city did they move to in 2024?', first: 'oslo' },
];

const words: Case[] = [
  { kind: 'word', query: 'peanuts', first: 'peanuts', mark: '«peanuts»' },
  { kind: 'word', query: 'basil', first: 'basil' },
  { kind: 'word', query: 'shipping', first: 'order', mark: '«shipped»' },
  { kind: 'name', query: 'Juno', first: 'labrador' },
  { kind: 'name', query: 'Sino', first: 'phone' },
  { kind: 'name', query: 'Whistling Kettles', first: 'song' },
  { kind: 'case', query: 'OSLO', first: 'oslo', mark: '«Oslo»' },
  { kind: 'case', query: 'rendertable', first: 'code' },
];

const codes: Case[] = [
  { kind: 'code', query: 'ERR-4711', first: 'error' },
  { kind: 'code', query: 'err 4712', first: 'error2' },
  { kind: 'code', query: 'ERR4711', first: 'error', mark: '«ERR»-«4711»' },
  { kind: 'code', query: 'v2.3.1', first: 'version' },
  { kind: 'code', query: 'which gateway is on v2.4.0?', first: 'version2' },
  { kind: 'number', query: '408-247-8880', first: 'phone' },
  { kind: 'number', query: '4085550199', first: 'phone2', mark: '«408»-«555»-«0199»' },
  { kind: 'number', query: '10023844', first: 'order' },
  { kind: 'number', query: '$21,801.28', first: 'money' },
  { kind: 'number', query: '21801', first: 'money' },
  { kind: 'id', query: 'BA117', first: 'flight' },
  { kind: 'id', query: '7f3c9a20-41de-4b8e-9d77-0c2f5e1ab345', first: 'uuid' },
  { kind: 'email address', query: 'billing+eu@example.com', first: 'mail' },
  { kind: 'url', query: 'https://docs.example.com/guides/on-boarding?step=3', first: 'url' },
  { kind: 'code', query: 'user_profile.refresh()', first: 'code' },
  { kind: 'part of camel case', query: 'which tables?', first: 'code', mark: '«renderTable»' },
];

const phrases: Case[] = [
  { kind: 'phrase', query: '"king of Spain"', first: 'king' },
  { kind: 'phrase', query: '"railway king"', first: 'museum' },
  { kind: 'phrase', query: '“to be or not”', first: 'song' },
  { kind: 'punctuation', query: 'NOT oslo AND (', first: 'oslo' },
  { kind: 'punctuation', query: 'C++', first: 'language' },
  { kind: 'punctuation', query: 'dark* NEAR/2 "mode', first: 'dark' },
  { kind: 'punctuation', query: '???!!', none: true },
];

const typed: Case[] = [
  { kind: 'cut short', query: 'labra', first: 'labrador', mark: '«Labrador»' },
  { kind: 'cut short', query: 'half mara', first: 'marathon' },
  { kind: 'cut short', query: 'pean', first: 'peanuts' },
  { kind: 'wrong letter', query: 'marethon', first: 'marathon', mark: '«marathon»' },
  { kind: 'missing letter', query: 'beekeper', first: 'bought' },
  { kind: 'extra letter', query: 'ceramiccs', first: 'studio' },
  { kind: 'swapped letters', query: 'bsail plant', first: 'basil' },
  { kind: 'swapped letters', query: 'lihgthouse', first: 'film' },
  // The question mark ends the word, so that these are not matches of an unfinished last word.
  { kind: 'first three letters', query: 'cer?', first: 'studio' },
  { kind: 'wrong letter in a word of four', query: 'oxlo?', first: 'oslo' },
  { kind: 'first four letters, one wrong', query: 'cexa?', none: true },
  { kind: 'first five letters, one wrong', query: 'cexam?', first: 'studio' },
  { kind: 'two words of four letters', query: 'tobe?', none: true },
  { kind: 'two words, one a single letter', query: 'afilm?', first: 'film', mark: '«a» «film»' },
  { kind: 'two words of five letters', query: 'inmay?', first: 'bought', mark: '«in» «May»' },
];

const scripts: Case[] = [
  { kind: 'accent', query: 'cafe in zurich', first: 'coffee', mark: '«café»' },
  { kind: 'accent', query: 'résume sao paulo', first: 'resume' },
  { kind: 'accent', query: 'öslo', first: 'oslo' },
  { kind: 'Chinese', query: '北京', first: 'chinese', mark: '«北京»' },
  { kind: 'Japanese', query: '東京タワー', first: 'japanese', mark: '«東京タワー»' },
  { kind: 'Thai', query: 'ข้าวผัด', first: 'thai' },
  { kind: 'Korean', query: '커피', first: 'korean', mark: '«커피»' },
  { kind: 'Russian', query: 'книги елка', first: 'russian' },
  { kind: 'Greek', query: 'αθηνα', first: 'greek' },
  { kind: 'Arabic', query: 'القاهرة', first: 'arabic' },
  { kind: 'Hebrew', query: 'ירושלים', first: 'hebrew' },
  { kind: 'Hindi', query: 'दिल्ली', first: 'hindi' },
  { kind: 'emoji', query: '🚀', first: 'emoji', mark: '«🚀»' },
];

const ties: Case[] = [{ kind: 'newer first', query: 'green tea', first: 'tea2' }];

export const cases = [question, words, codes, phrases, typed, scripts, ties].flat();
