/** English stop words, irregular forms and synonyms. They apply only to queries. */

/** Words that shape a question but do not name its subject. */
export const stopWords: ReadonlySet<string> = new Set(
  (
    'a about above after again all also am an and any are arent as at be because been before being ' +
    'both but by can cannot cant could couldnt did didnt do does doesnt doing done dont down during ' +
    'each ever few for from further get gets getting give given got had hadnt has hasnt have havent ' +
    'having he her here hers herself him himself his how i if in into is isnt it its itself just let ' +
    'like many may me mention mentioned might more most much must my myself no nor not of off on ' +
    'once one only or other our ours ourselves out over own please really said same say says she ' +
    'should shouldnt so some something such tell than that the their theirs them themselves then ' +
    'there these they thing things this those through to told too under until up upon us use very ' +
    'was wasnt we were werent what whats when where which while who whom whose why will with ' +
    'wont would wouldnt you your yours yourself yourselves s t'
  ).split(' '),
);

const acts =
  'said|tell|told|suggest|recommend|advise|propose|mention|gave|give|explain|describe|wrote';
const works =
  'advice|tips?|suggestions?|recommendations?|answer|reply|list|plan|outline|recipe|ideas?';

/** "What did you recommend?", "your advice", "what did the assistant say?" */
export const asksYou = new RegExp(
  `\\b(?:(?:did|have|had|would) you|you (?:\\w+ )?(?:${acts})|your (?:\\w+ )?(?:${works})|the assistant)\\b`,
  'i',
);

const speaks = 'talk|ask|discuss|chat|suggest|recommend|advise|propose|explain|want|happen';
const subjects = 'tip|topic|subject|suggestion|recommendation|conversation|question';

/** A word of "what happened?", "which topics did we discuss?" or "what did you recommend?" */
export const asksForAnything = new RegExp(
  `^(?:(?:${speaks})(?:e?d|ted|t?ing|e?s)?|spoken?|speak(?:s|ing)?|know|gave|advice|(?:${subjects})s?)$`,
);

/** "Which car does she drive now?" */
export const asksPresent =
  /\b(?:now|nowadays|current(?:ly)?|latest|newest|most recent|still|any ?more|these days|at the moment|at present)\b/i;

/** "Where do I live?", unless it is about the past. */
export const asksState = /^\s*(?:\w+ ){0,5}(?:is|are|am|do|does|can|(?:what|who|where)['’]s)\b/i;
export const asksPast = /\b(?:did|was|were|had|when)\b/i;

/** Groups of forms of one word that do not share a stem. */
const irregularGroups =
  'go goes going gone went;buy bought buying;take taken taking took;eat ate eaten eating;' +
  'see saw seeing seen;give gave given giving;make made making;get getting got gotten;' +
  'come came coming;know knew known knowing;think thought thinking;tell told telling;' +
  'find found finding;leave left leaving;feel felt feeling;keep kept keeping;begin began begun;' +
  'bring brought bringing;build built building;catch caught catching;choose chose chosen;' +
  'do did does doing done;draw drawn drew;drink drank drunk;drive driven drove driving;' +
  'fall fallen fell;feed fed;fight fought;fly flew flown flies;forget forgot forgotten;' +
  'forgive forgave forgiven;freeze froze frozen;grow grew grown;hang hung;hear heard;hide hid hidden;' +
  'hold held;lead led;learn learnt;lend lent;lose lost losing;mean meant;meet met meeting;pay paid;' +
  'ride ridden rode riding;ring rang rung;rise risen;run ran running;say said;sell sold selling;' +
  'send sent;shake shaken shook;shoot shot;show shown;sing sang sung;sit sat;sleep slept;' +
  'speak spoke spoken;spend spent;stand stood;steal stole stolen;stick stuck;strike struck;' +
  'sweep swept;swim swam swum swimming;swear sworn swore;teach taught;tear tore torn;' +
  'throw threw thrown;understand understood;wake woke woken;wear wore worn;win winning won;' +
  'write written writing wrote;break broke broken;become became;dream dreamt;burn burnt;' +
  'man men;woman women;child children;person people persons;foot feet;tooth teeth;mouse mice;' +
  'goose geese;wife wives;knife knives;life lives;leaf leaves;shelf shelves;half halves;wolf wolves;' +
  'good better best;bad worse worst;far further farther;two second twice;three third;five fifth;' +
  'lie lying lied lies;die dying died dies;tie tying tied ties';

/** Groups of words with nearly the same meaning when people talk about their lives. */
const synonymGroups =
  'mom mum mother mama mommy;dad father papa daddy;parent mother father mom dad;' +
  'child kid son daughter toddler baby;sibling brother sister;spouse husband wife partner;' +
  'grandmother grandma granny nana;grandfather grandpa granddad;family relative;' +
  'job work career position profession occupation employ;boss manager supervisor;' +
  'colleague coworker teammate;company employer firm business startup;hire recruit;quit resign leave;' +
  'study degree major university college course;school class teacher;exam test;' +
  'trip travel vacation holiday journey visit;flight plane airport;abroad overseas country;' +
  'house home apartment flat place;move relocate;live reside;city town;neighborhood neighbourhood;' +
  'movie film cinema;show series episode;book novel read author;music song band album concert;' +
  'instrument guitar piano violin drum ukulele cello flute;picture photo photograph image;' +
  'art painting paint drawing sketch;hobby pastime interest;game play;sport team match;' +
  'exercise workout gym fitness run;race marathon run;hike trail trek hiking;bike bicycle cycling cycle;' +
  'car vehicle truck;pet dog cat puppy kitten;puppy dog;kitten cat;dog breed;' +
  'food meal dish eat cook;cook bake recipe;dinner supper;restaurant diner cafe;dessert cake sweet;' +
  'vegetarian vegan;drink coffee tea;doctor physician clinic hospital;ill sick illness;' +
  'injury injure hurt broke sprain;allergic allergy;medication medicine pill;' +
  'birthday anniversary;wedding marry married bride;engaged engagement propose fiance;' +
  'party celebrate celebration;present gift;date romantic;friend buddy pal;' +
  'buy purchase;sell sale;cost price pay;money salary budget;cheap inexpensive;' +
  'start begin;finish complete end;plan intend;want wish hope;' +
  'enjoy love like fun;favorite favourite love prefer;happy glad excited thrilled;sad upset;' +
  'afraid scared fear;worried nervous anxious stress;proud achievement accomplish award;' +
  'win prize award trophy;help support volunteer;charity donate fundraiser;' +
  'idea inspire inspiration;problem issue trouble;fix repair;' +
  'phone number call;email mail address;computer laptop;garden plant flower vegetable;' +
  'beach sea ocean;lake river;mountain hill peak;forest wood;camp tent;' +
  'color colour;autumn fall;church religion faith;native origin;name call;' +
  'big large huge;small little tiny;often frequently;photo camera';

export const irregularForms = groupsIn(irregularGroups);
export const synonyms = groupsIn(synonymGroups);

function groupsIn(list: string): readonly (readonly string[])[] {
  return list.split(';').map((words) => words.split(' '));
}
