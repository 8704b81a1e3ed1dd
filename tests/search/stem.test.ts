import { expect, test } from 'bun:test';
import { stem } from '../../server/search/stem.ts';

/** Stems computed by Snowball's English stemmer. */
const stems: Record<string, string> = {
  plurals:
    'caresses:caress weaknesses:weak ponies:poni ties:tie cries:cri gas:gas gaps:gap this:this kiwis:kiwi ' +
    'dress:dress status:status hikes:hike',
  participles:
    'agreed:agre feed:feed agreedly:agre hopping:hop hoped:hope hoping:hope hiked:hike ' +
    'plastered:plaster bled:bled motoring:motor sing:sing conflated:conflat ' +
    'troubled:troubl sized:size fizzed:fizz failing:fail filed:file tanned:tan ' +
    'falling:fall hissing:hiss dating:date enabling:enabl unexpectedly:unexpect ' +
    'seemingly:seem activated:activ animating:anim operating:oper modernized:modern dying:die lying:lie tying:tie',
  'a final y': 'happy:happi cry:cri say:say by:by toys:toy enjoy:enjoy youth:youth',
  'derivational suffixes, first step':
    'relational:relat conditional:condit valency:valenc hesitancy:hesit digitizer:digit ' +
    'conformably:conform radically:radic differently:differ vilely:vile ' +
    'analogously:analog vietnamization:vietnam predication:predic operator:oper ' +
    'feudalism:feudal decisiveness:decis hopefulness:hope callousness:callous ' +
    'formality:formal sensitivity:sensit sensibility:sensibl hopefully:hope ' +
    'endlessly:endless psychology:psycholog geology:geolog apology:apolog',
  'derivational suffixes, second step':
    'triplicate:triplic formative:format formalize:formal electricity:electr ' +
    'electrical:electr hopeful:hope goodness:good national:nation',
  'endings of long words':
    'revival:reviv allowance:allow inference:infer airliner:airlin gyroscopic:gyroscop ' +
    'adjustable:adjust defensible:defens irritant:irrit replacement:replac ' +
    'adjustment:adjust dependent:depend adoption:adopt homologous:homolog ' +
    'communism:communism activate:activ angularity:angular effective:effect ' +
    'bowdlerize:bowdler version:version region:region',
  'a final e or l':
    'probate:probat rate:rate cease:ceas controll:control roll:roll travelling:travel ' +
    'rolled:roll',
  'prefixes that count as a syllable':
    'generate:generat generously:generous community:communiti communal:communal ' +
    'arsenal:arsenal general:general',
  'words with several endings':
    'hiking:hike running:run runs:run studies:studi studied:studi studying:studi study:studi ' +
    'happiness:happi nationality:nation paintings:paint painted:paint adopted:adopt ' +
    'conservative:conserv conserved:conserv exceeds:exceed ' +
    'exceeded:exceed exceeding:exceed technological:technolog technologies:technolog ' +
    'technology:technolog biologically:biolog biological:biolog biology:biolog',
  'words that differ from similar ones':
    'new:new sky:sky ski:ski inning:inning in:in bus:bus ear:ear sin:sin unit:unit ' +
    'universe:univers skies:sky',
  exceptions:
    'skies:sky skis:ski dying:die lying:lie tying:tie news:news exceed:exceed proceed:proceed',
  'endings after s or t': 'nation:nation notion:notion opinion:opinion',
  adverbs: 'quickly:quick friendly:friend kindly:kind',
};

for (const [what, words] of Object.entries(stems)) {
  test(`words have the same stems as in Snowball: ${what}`, () => {
    const pairs = words.split(' ').map((pair) => pair.split(':'));
    expect(pairs.map(([word = '']) => [word, stem(word)])).toEqual(pairs);
  });
}

test('some words have other stems, which tell them apart from shorter words', () => {
  expect(['early', 'weddings', 'wedding'].map(stem)).toEqual(['early', 'wedding', 'wedding']);
});
